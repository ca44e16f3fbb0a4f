//! Plugins that are none, that crash, hang or lie: each is one row, and the others are measured.

use std::path::Path;

use reprise_harness::Reprise;
use reprise_servers::require;

use super::plugins::compile;

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
    require!("cc", "/usr/include/openssl/ssl.h");
    let folder = tempfile::tempdir().unwrap();
    let plugin = hostile(folder.path(), what);
    let stacks = format!("rustls-ring,{}", what.to_lowercase());
    let call = Reprise::without_plugins("compare resumption --tls 1.2 --keys p-256 --groups x25519");
    let call = call.flags("--samples 2 --timeout 3s --over").args([over, "--stacks", &stacks, "--plugin"]);
    let (document, ended) = call.arg(&plugin).run_for_json();
    ended.exits(0);
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
    require!("cc", "/usr/include/openssl/ssl.h");
    let folder = tempfile::tempdir().unwrap();
    let plugin = hostile(folder.path(), "OLDER");
    let page = Reprise::without_plugins("stacks check").arg(&plugin).run().exits(0).page;
    // It says that it can, and has no function for it.
    assert!(page.contains("ok      TLS 1.3 ticket") && !page.contains("ok      TLS 1.3 early"), "{page}");
}

#[test]
fn what_is_no_plugin_is_named_with_its_fault() {
    require!("cc", "/usr/include/openssl/ssl.h");
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
        Reprise::without_plugins("stacks check").arg(&plugin).run().exits(1).says(&[fault]);
        // Whoever names it is told before anything is measured.
        for command in ["compare full --quick", "layers -n 1 --levels ctx"] {
            let outcome = Reprise::without_plugins(command).arg("--plugin").arg(&plugin).run();
            assert_eq!(outcome.exits(2).says(&[fault]).page, "", "{command}");
        }
    }
}
