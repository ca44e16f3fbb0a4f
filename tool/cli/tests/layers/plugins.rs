//! OpenSSL's plugin and the program that is started again and again, built as `cargo xtask stacks --system` builds them, once a run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use reprise_servers::{NotRun, missing};

/// Whether a compiler and this header are installed; if not, says so.
fn can_compile(header: &str) -> bool {
    let not_run = missing("cc").or_else(|| missing(header));
    not_run.iter().for_each(NotRun::announce);
    not_run.is_none()
}

/// The folder with both; none where they cannot be built.
pub(crate) fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    if !can_compile("/usr/include/openssl/ssl.h") {
        return None;
    }
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        plugin(&stacks().join("shim/openssl.c"), &folder.path().join("openssl.so"), &[]);
        compile(&[], &stacks().join("run/run.c"), &folder.path().join("reprise-run"), &["-ldl"]);
        folder
    });
    Some(folder.path())
}

/// A folder with Mbed TLS' plugin, which has no TLS 1.3.
pub(crate) fn without_tls13() -> Option<tempfile::TempDir> {
    if !can_compile("/usr/include/mbedtls/ssl.h") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let libraries = ["-l:libmbedtls.a", "-l:libmbedx509.a", "-l:libmbedcrypto.a"];
    linked(&stacks().join("shim/mbedtls.c"), &folder.path().join("mbedtls.so"), &[], &libraries);
    Some(folder)
}

/// What `reprise-run` writes to standard error with GnuTLS's plugin, which logs its initialisation there; `None` where it cannot be built.
pub(crate) fn log_of_gnutls(mode: &str, arguments: &[&str]) -> Option<String> {
    if !can_compile("/usr/include/gnutls/gnutls.h") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let [plugin, program] = ["gnutls.so", "reprise-run"].map(|file| folder.path().join(file));
    linked(&stacks().join("shim/gnutls.c"), &plugin, &[], &["-lgnutls"]);
    compile(&[], &stacks().join("run/run.c"), &program, &["-ldl"]);
    let mut run = Command::new(program);
    let output = run.arg(mode).arg(plugin).args(arguments).env("GNUTLS_DEBUG_LEVEL", "2").output().unwrap();
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A shim over OpenSSL.
pub(crate) fn plugin(source: &Path, plugin: &Path, defines: &[&str]) {
    linked(source, plugin, defines, &["-l:libssl.a", "-l:libcrypto.a", "-ldl", "-lpthread"]);
}

fn linked(source: &Path, plugin: &Path, defines: &[&str], libraries: &[&str]) {
    let map = format!("-Wl,--version-script={}", stacks().join("shim/plugin.map").display());
    let flags = ["-fPIC", "-fvisibility=hidden", "-shared"];
    let hidden = ["-Wl,--exclude-libs,ALL", "-Wl,-Bsymbolic", &map];
    compile(&[&flags[..], defines].concat(), source, plugin, &[&hidden[..], libraries].concat());
}

fn compile(flags: &[&str], source: &Path, to: &Path, libraries: &[&str]) {
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror"]).args(flags);
    compiler.arg("-I").arg(stacks().join("include")).arg("-I").arg(stacks().join("shim"));
    let output = compiler.arg("-o").arg(to).arg(source).args(libraries).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn stacks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tls/stacks")
}
