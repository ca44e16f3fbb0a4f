//! Plugins that are none, that crash, hang or lie: each is one row, and the others are measured.

use std::path::Path;

use reprise_servers::missing;

use super::plugins::compile;
use super::{document, reprise};

/// A plugin of OpenSSL that behaves as `what` says.
fn hostile(folder: &Path, what: &str) -> std::path::PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compare/hostile.c");
    let plugin = folder.join(format!("{}.so", what.to_lowercase()));
    compile(&source, &plugin, &[&format!("-D{what}")], &["-l:libssl.a", "-l:libcrypto.a"]);
    plugin
}

/// What `compare` makes of it, beside a stack that is not hostile.
#[track_caller]
fn outcome_of(what: &str, outcome: &str, reason: &str) {
    outcome_over("memory", what, outcome, reason);
}

#[track_caller]
fn outcome_over(over: &str, what: &str, outcome: &str, reason: &str) {
    if let Some(not_run) = missing("cc").or_else(|| missing("/usr/include/openssl/ssl.h")) {
        return not_run.announce();
    }
    let folder = tempfile::tempdir().unwrap();
    let plugin = hostile(folder.path(), what);
    let stacks = format!("rustls-ring,{}", what.to_lowercase());
    let mut command = reprise(&["compare", "resumption", "--tls", "1.2", "--keys", "p-256", "--groups", "x25519"]);
    command.args(["--over", over, "--samples", "2", "--timeout", "3s", "--stacks", &stacks, "--plugin"]).arg(&plugin);
    let (document, output) = document(&mut command);
    assert!(output.status.success());
    let skipped = document["skipped"].as_array().unwrap();
    let is_it = |it: &&serde_json::Value| it["outcome"] == outcome && it["reason"].as_str().unwrap().contains(reason);
    assert!(skipped.iter().any(|it| is_it(&it)), "{skipped:#?}");
    let of_rustls = document["rows"].as_array().unwrap().iter().filter(|row| row["client"] == "rustls-ring");
    assert_eq!(of_rustls.count(), 3, "full, by ID, by ticket: {document:#}");
}

#[test]
fn a_crash_is_one_row() {
    outcome_of("CRASHES", "crashed", "SIGABRT");
}

#[test]
fn a_hang_is_one_row() {
    outcome_of("HANGS", "hung", "no answer within 3 s");
}

#[test]
fn a_crash_over_loopback_is_one_row() {
    outcome_over("loopback", "CRASHES", "crashed", "SIGABRT");
}

#[test]
fn a_hang_over_loopback_is_one_row() {
    outcome_over("loopback", "HANGS", "hung", "no answer within 3 s");
}

#[test]
fn a_lie_over_loopback_is_found_on_the_wire() {
    outcome_over("loopback", "LIES", "contradicted", "says resumed: true, the wire false");
}

#[test]
fn a_lie_about_resumption_is_found_on_the_wire() {
    outcome_of("LIES", "contradicted", "says resumed: true, the wire false");
}

#[test]
fn a_session_that_is_not_offered_is_no_resumption() {
    outcome_of("FORGETS", "failed", "id was asked for, full observed");
}

#[test]
fn output_on_standard_output_is_no_answer() {
    outcome_of("CHATTERS", "broken", "it writes to standard output");
}

#[test]
fn a_plugin_of_the_first_header_is_still_read() {
    if let Some(not_run) = missing("cc").or_else(|| missing("/usr/include/openssl/ssl.h")) {
        return not_run.announce();
    }
    let folder = tempfile::tempdir().unwrap();
    let plugin = hostile(folder.path(), "OLDER");
    let output = reprise(&["stacks", "check"]).arg(&plugin).output().unwrap();
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{page}\n{}", String::from_utf8_lossy(&output.stderr));
    // It says that it can, and has no function for it.
    assert!(page.contains("ok      TLS 1.3 ticket") && !page.contains("ok      TLS 1.3 early"), "{page}");
}

#[test]
fn what_is_no_plugin_is_named_with_its_fault() {
    if let Some(not_run) = missing("cc").or_else(|| missing("/usr/include/openssl/ssl.h")) {
        return not_run.announce();
    }
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library").unwrap();
    let faults = [
        (hostile(folder.path(), "OTHER_ABI"), "plugin of ABI version 77"),
        (hostile(folder.path(), "SHORT_TABLE"), "a table of 16 bytes"),
        (hostile(folder.path(), "NULL_FUNCTION"), "is a plugin without session_take"),
        (hostile(folder.path(), "NULL_TABLE"), "is a plugin without a table"),
        (hostile(folder.path(), "NO_VERSION"), "is a plugin without version"),
        (hostile(folder.path(), "NOT_INITIALISED"), "could not be initialised"),
        (text, "cannot load"),
        (folder.path().join("missing.so"), "cannot read"),
    ];
    for (plugin, fault) in faults {
        let output = reprise(&["stacks", "check"]).arg(&plugin).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{}: {said}", plugin.display());
        assert!(said.contains(fault), "{}: {said}", plugin.display());
    }
}
