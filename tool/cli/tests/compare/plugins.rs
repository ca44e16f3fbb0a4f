//! Plugins, built as `reprise stacks install` builds them, once a run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use reprise_compare::{LIBRARIES as KNOWN, LibrarySource};
use reprise_harness::Reprise;
use reprise_servers::{NotRun, missing, require};

use super::strings;

/// Each shim with its library's header and how it is linked.
pub(crate) const LIBRARIES: [(&str, &str, &[&str]); 5] = [
    ("openssl", "/usr/include/openssl/ssl.h", &["-l:libssl.a", "-l:libcrypto.a"]),
    ("gnutls", "/usr/include/gnutls/gnutls.h", &["-lgnutls"]),
    ("wolfssl", "/usr/include/wolfssl/ssl.h", &["-lwolfssl"]),
    ("mbedtls", "/usr/include/mbedtls/ssl.h", &["-l:libmbedtls.a", "-l:libmbedx509.a", "-l:libmbedcrypto.a"]),
    ("bearssl", "/usr/include/bearssl.h", &["-l:libbearssl.a"]),
];

/// Whether a compiler and every library are installed; if not, says so.
pub(crate) fn can_build_plugins() -> bool {
    let needs = ["cc", "make", "nm"].into_iter().chain(LIBRARIES.map(|(_, header, _)| header));
    let not_run = needs.into_iter().find_map(missing);
    not_run.iter().for_each(NotRun::announce);
    not_run.is_none()
}

/// The folder with all plugins; none where they cannot be built.
pub(crate) fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    if !can_build_plugins() {
        return None;
    }
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let installed = Reprise::without_plugins("stacks install --into").arg(folder.path()).run();
        let plugins = LIBRARIES.map(|(name, ..)| format!("{name}.so ("));
        installed.exits(0).shows(&plugins.each_ref().map(String::as_str)).silently();
        folder
    });
    Some(folder.path())
}

/// The folder that `cargo xtask stacks` builds into, and the plugins of sources that are there. Tests of them are ignored but for
/// `just full`, which builds them first: they take minutes to build, and to pair.
pub(crate) fn of_sources() -> (PathBuf, Vec<&'static str>) {
    let folder = Path::new(env!("CARGO_BIN_EXE_reprise")).with_file_name("../stacks");
    let of_source = KNOWN.iter().filter(|library| matches!(library.origin, LibrarySource::Source { .. }));
    let built = of_source.map(|library| library.plugin).filter(|plugin| folder.join(format!("{plugin}.so")).is_file());
    let built: Vec<&str> = built.collect();
    assert!(!built.is_empty(), "no plugin in {}: cargo xtask stacks --source", folder.display());
    (folder, built)
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

pub(crate) fn stacks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tls/stacks")
}

const ID_MUTUAL: &str = "TLS 1.2 id, p-256, secp256r1, mutual, as server of rustls";
const PSK_KE: &str = "TLS 1.3 ticket psk_ke, p-256, secp256r1, mutual, with itself";
const EARLY: &str = "TLS 1.3 early, p-256, secp256r1, as client of rustls";
const REPLAYED: &str = "accepts replayed early data once, TLS 1.3, with itself";
const REJECTED: &str = "sends early data again that another server rejects, TLS 1.3, as server of rustls";

const DHE_PSK: &str = "TLS 1.2 psk, ffdhe2048, TLS_DHE_PSK_WITH_AES_128_GCM_SHA256, with itself";
const ECDHE_PSK: &str = "TLS 1.2 psk, secp256r1, TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256, with itself";
const PLAIN_PSK: &str = "TLS 1.2 psk, none, TLS_PSK_WITH_AES_128_GCM_SHA256, with itself";
const PSK_13: &str = "TLS 1.3 psk, secp256r1, TLS_AES_128_GCM_SHA256, with itself";
const PSK_13_KE: &str = "TLS 1.3 psk psk_ke, secp256r1, TLS_AES_128_GCM_SHA256, with itself";
const OTHER_KEY: &str = "refuses a PSK with another key, TLS 1.2 psk, secp256r1";
const OTHER_KEY_13: &str = "refuses a PSK with another key, TLS 1.3 psk, secp256r1";
const ALL_PSK: [&str; 7] = [DHE_PSK, ECDHE_PSK, PLAIN_PSK, PSK_13, PSK_13_KE, OTHER_KEY, OTHER_KEY_13];

/// As `check_plugin`, of the plugin of an installed library.
fn check(name: &str, cannot: &[(&str, &str)], more: &[&str]) {
    if let Some(folder) = folder() {
        check_plugin(&folder.join(format!("{name}.so")), cannot, &[more, &[ID_MUTUAL]].concat());
    }
}

/// What `stacks check` says of one plugin: nothing fails; `cannot` is what the library says that it cannot do, and in words why; `more`
/// is among what passes.
fn check_plugin(plugin: &Path, cannot: &[(&str, &str)], more: &[&str]) {
    let outcome = Reprise::without_plugins("stacks check").arg(plugin).run().exits(0);
    let beyond: Vec<&str> = outcome.page.lines().filter(|line| line.starts_with("cannot")).collect();
    let is = |line: &str, (what, why): &(&str, &str)| line.contains(what) && line.contains(why);
    let name = plugin.display();
    assert!(beyond.iter().all(|line| cannot.iter().any(|it| is(line, it))), "{name}: {beyond:#?}");
    for it in cannot {
        assert!(beyond.iter().any(|line| is(line, it)), "{name}: {it:?} is not said: {beyond:#?}");
    }
    let always = [
        "TLS 1.2 id, p-256, secp256r1, as server of rustls",
        "TLS 1.2 full, p-256, secp256r1, mutual, as server of rustls",
        "refuses a chain to no trusted root",
    ];
    for what in always.iter().chain(more) {
        assert!(outcome.page.contains(&format!("ok      {what}")), "{name}, {what}: {}", outcome.page);
    }
}

#[test]
#[ignore = "of sources, that are built first: just full"]
fn plugins_of_sources_keep_the_contract() {
    let (folder, plugins) = of_sources();
    for plugin in plugins {
        check_plugin(&folder.join(format!("{plugin}.so")), &[], &[]);
    }
}

/// Debian compiles BearSSL as its own Makefile does, for size: the same code, found in another way.
#[test]
#[ignore = "of sources, that are built first: just full"]
fn the_systems_bearssl_is_its_source_built_for_size() {
    require!("valgrind");
    let (sources, plugins) = of_sources();
    assert!(plugins.contains(&"bearssl-0.6-Os"), "{plugins:?}");
    let Some(installed) = folder() else { return };
    let line = "compare full --tls 1.2 --keys p-256 --groups secp256r1 --samples 1 --instructions --timeout 120s --stacks";
    let call =
        Reprise::without_plugins(line).arg("bearssl,bearssl-0.6-Os").arg("--plugin").arg(installed.join("bearssl.so"));
    let (document, _) = call.arg("--plugins").arg(sources).run_for_json();
    let rows = document["rows"].as_array().unwrap();
    for side in ["client", "server"] {
        let of = |stack: &str| {
            let row = rows.iter().find(|row| row["client"] == stack).unwrap();
            row["instructions"][side].as_f64().unwrap()
        };
        let ratio = of("bearssl") / of("bearssl-0.6-Os");
        assert!((0.95..1.05).contains(&ratio), "{side}: {ratio}");
    }
}

#[test]
fn openssl_keeps_the_contract() {
    check("openssl", &[], &[&[PSK_KE, EARLY, REJECTED, REPLAYED], &ALL_PSK[..]].concat());
}

#[test]
fn gnutls_keeps_the_contract() {
    check("gnutls", &[], &[&[PSK_KE, EARLY, REJECTED, REPLAYED], &ALL_PSK[..]].concat());
}

#[test]
fn wolfssl_keeps_the_contract() {
    let cannot = [
        // rustls has nonces of 32 bytes.
        (
            "TLS 1.3 ticket, ",
            "as client of rustls: the client: this build of wolfSSL accepts no ticket whose nonce is longer than 8 bytes",
        ),
        ("resumes a client of psk_dhe_ke", "with itself: the client: wolfSSL before 5.6 offers psk_ke beside psk_dhe_ke"),
    ];
    check("wolfssl", &cannot, &[PSK_KE, DHE_PSK, ECDHE_PSK, PSK_13, PSK_13_KE, OTHER_KEY, OTHER_KEY_13]);
}

#[test]
fn mbedtls_keeps_the_contract() {
    check("mbedtls", &[], &[DHE_PSK, ECDHE_PSK, PLAIN_PSK, OTHER_KEY]);
}

#[test]
fn bearssl_keeps_the_contract() {
    check("bearssl", &[], &[]);
}

#[test]
fn stacks_lists_each_with_version_and_hash() {
    let Some(folder) = folder() else { return };
    let page = Reprise::without_plugins("stacks --plugins").arg(folder).run().exits(0).page;
    for name in
        ["rustls-aws-lc", "rustls-ring", "engine", "OpenSSL 3.", "GnuTLS 3.", "wolfSSL 5.", "Mbed TLS 2.28", "BearSSL 0.6"]
    {
        assert!(page.contains(name), "{name}: {page}");
    }
    assert_eq!(page.matches("sha256 ").count(), LIBRARIES.len(), "{page}");
    if cfg!(target_arch = "x86_64") {
        assert!(page.contains("optimised: AES, SHA-256, P-256, X25519, RSA\n"), "OpenSSL, without code for P-384: {page}");
    }
    // And how to get what is not there.
    assert!(page.contains("OpenSSL 3.5.5, Apache-2.0") && page.contains("reprise stacks install openssl-3.5"), "{page}");
    assert!(page.contains("install wolfssl-5.9 (only by name: its licence is the GPL)"), "{page}");
    assert!(!page.contains("apt-get install"), "all that can be installed is: {page}");
}

#[test]
fn libraries_are_held_against_what_was_published() {
    let Some(folder) = folder() else { return };
    let line = "compare stacks --keys rsa-1024,p-384 --stacks mbedtls,bearssl --samples 6 --plugins";
    let (document, _) = Reprise::without_plugins(line).arg(folder).run_for_json();
    let claims = document["claims"].as_array().unwrap();
    // The only two whose libraries are installed.
    let stacks = strings(&document["claims"], "stack");
    assert_eq!(
        stacks,
        ["mbedtls → bearssl, rsa-1024, full, server", "mbedtls → bearssl, p-384, full, server"],
        "{claims:#?}"
    );
    for claim in claims {
        let [measured, published] = ["measured", "published"].map(|field| claim[field].as_f64().unwrap());
        let [low, high] = [0, 1].map(|end| claim["ci95"][end].as_f64().unwrap());
        let verdict = match (low <= 1.0 && high >= 1.0, measured > 1.0) {
            (true, _) => "no difference",
            (false, true) => "same direction",
            (false, false) => "other direction",
        };
        assert!(published > 1.0 && claim["verdict"] == verdict, "{claim:#}");
    }
}

#[test]
fn what_cannot_be_installed_is_said() {
    let install = |names: &str| Reprise::without_plugins(&format!("stacks install {names} --into /proc/none")).run();
    install("nothing").exits(2).says(&["unknown library 'nothing'; known: openssl, gnutls"]);
    install("s2n").exits(2).says(&["cannot write /proc/none/recipes/"]);
}
