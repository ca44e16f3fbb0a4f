//! Plugins, built as `cargo xtask stacks --system` builds them, once a run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use reprise_lab::servers::{NotRun, missing};

use super::reprise;

/// Each shim with its library's header and how it is linked.
const LIBRARIES: [(&str, &str, &[&str]); 5] = [
    ("openssl", "/usr/include/openssl/ssl.h", &["-l:libssl.a", "-l:libcrypto.a"]),
    ("gnutls", "/usr/include/gnutls/gnutls.h", &["-lgnutls"]),
    ("wolfssl", "/usr/include/wolfssl/ssl.h", &["-lwolfssl"]),
    ("mbedtls", "/usr/include/mbedtls/ssl.h", &["-l:libmbedtls.a", "-l:libmbedx509.a", "-l:libmbedcrypto.a"]),
    ("bearssl", "/usr/include/bearssl.h", &["-l:libbearssl.a"]),
];

/// The folder with all plugins, or what is missing to build them.
pub(crate) fn folder() -> Result<&'static Path, NotRun> {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    if let Some(not_run) = missing("cc").or_else(|| LIBRARIES.iter().find_map(|(_, header, _)| missing(header))) {
        return Err(not_run);
    }
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        for (name, _, libraries) in LIBRARIES {
            compile(&stacks().join(format!("shim/{name}.c")), &folder.path().join(format!("{name}.so")), &[], libraries);
        }
        folder
    });
    Ok(folder.path())
}

/// Compiles a shim into a plugin.
pub(crate) fn compile(source: &Path, plugin: &Path, defines: &[&str], libraries: &[&str]) {
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden", "-shared", "-o"]);
    compiler.arg(plugin).arg("-I").arg(stacks().join("include")).arg("-I").arg(stacks().join("shim")).args(defines);
    compiler.arg(source).args(["-Wl,--exclude-libs,ALL", "-Wl,-Bsymbolic", "-Wl,-z,defs"]);
    compiler.arg(format!("-Wl,--version-script={}", stacks().join("shim/plugin.map").display()));
    let output = compiler.args(libraries).args(["-ldl", "-lpthread"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn stacks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stacks")
}

/// What `stacks check` says of one plugin: `known` is what fails, and in words why.
fn check(name: &str, known: Option<(&str, &str)>) {
    let folder = match folder() {
        Ok(folder) => folder,
        Err(not_run) => return not_run.announce(),
    };
    let plugin = folder.join(format!("{name}.so"));
    let output = reprise(&["stacks", "check", plugin.to_str().unwrap()]).output().unwrap();
    let page = String::from_utf8_lossy(&output.stdout);
    let failed: Vec<&str> = page.lines().filter(|line| line.starts_with("FAILED")).collect();
    let is_known = |line: &&str| known.is_some_and(|(what, why)| line.contains(what) && line.contains(why));
    assert!(failed.iter().all(is_known), "{failed:#?}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(failed.is_empty(), known.is_none(), "what is known to fail passes");
    assert_eq!(output.status.code(), Some(i32::from(known.is_some())), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(page.contains("ok      TLS 1.2 id, p-256, secp256r1, mutual, as server of rustls"), "{page}");
    assert!(page.contains("ok      refuses a chain to no trusted root"), "{page}");
}

#[test]
fn openssl_keeps_the_contract() {
    check("openssl", None);
}

#[test]
fn gnutls_keeps_the_contract() {
    check("gnutls", None);
}

#[test]
fn wolfssl_keeps_the_contract() {
    // Its list of known incompatibilities says why: every_pair.rs.
    check(
        "wolfssl",
        Some(("1.3 ticket", "as client of rustls: the client: peer_misbehaved (The security parameter is invalid)")),
    );
}

#[test]
fn mbedtls_keeps_the_contract() {
    check("mbedtls", None);
}

#[test]
fn bearssl_keeps_the_contract() {
    check("bearssl", None);
}

#[test]
fn stacks_lists_each_with_version_and_hash() {
    let folder = match folder() {
        Ok(folder) => folder,
        Err(not_run) => return not_run.announce(),
    };
    let output = reprise(&["stacks", "--plugins", folder.to_str().unwrap()]).output().unwrap();
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{page}");
    for name in
        ["rustls-aws-lc", "rustls-ring", "engine", "OpenSSL 3.", "GnuTLS 3.", "wolfSSL 5.", "Mbed TLS 2.28", "BearSSL 0.6"]
    {
        assert!(page.contains(name), "{name}: {page}");
    }
    assert_eq!(page.matches("sha256 ").count(), LIBRARIES.len(), "{page}");
}
