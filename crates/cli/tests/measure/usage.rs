//! Flags that make no sense: exit 2, and a message that names the flag and what it takes.

use crate::harness::Reprise;

/// Nobody listens there, so that a call that should have been refused fails with another code.
const NOWHERE: &str = "127.0.0.1:1";

#[track_caller]
fn assert_refused(arguments: &[&str], words: &[&str]) {
    let outcome = Reprise::new(["measure", NOWHERE]).args(arguments).run().exits(2).says(words);
    assert_eq!(outcome.page, "");
}

#[test]
fn counts() {
    assert_refused(&["--count", "0"], &["--count", "1..=1000000"]);
    assert_refused(&["-n", "-1"], &["-1"]);
    assert_refused(&["-n", "1000001"], &["1000001", "1..=1000000"]);
    assert_refused(&["-n", "many"], &["invalid digit"]);
}

#[test]
fn unknown_names() {
    assert_refused(&["--speed"], &["unexpected argument '--speed'"]);
    assert_refused(&["--tls", "1.1"], &["1.1", "1.2"]);
    assert_refused(&["--kinds", "fast"], &["fast", "full, id, ticket"]);
    assert_refused(&["--ciphers", "ROT13"], &["no cipher suite is named 'ROT13'"]);
    assert_refused(&["--ciphers", "DHE-RSA-AES128-GCM-SHA256"], &["known and not spoken"]);
    assert_refused(&["--groups", "x448"], &["known and not spoken", "x25519"]);
    assert_refused(&["--connections", "sometimes"], &["close", "keepalive"]);
}

#[test]
fn values_of_another_form() {
    assert_refused(&["--timeout", "0s"], &["500ms, 10s or 2m"]);
    assert_refused(&["--timeout", "soon"], &["500ms, 10s or 2m"]);
    assert_refused(&["--header", "no colon"], &["Name: value"]);
    assert_refused(&["--header", "Connection: close"], &["--connections close"]);
    assert_refused(&["--path", "index.html"], &["begins with /"]);
    assert_refused(&["--method", "GE T"], &["no HTTP method"]);
    assert_refused(&["--resolve", "localhost"], &["--resolve"]);
    assert_refused(&["--alpn", &"x".repeat(256)], &["--alpn", "255 bytes"]);
    assert_refused(&["--sni", "-", "--insecure"], &["--sni"]);
}

#[test]
fn flags_that_exclude_or_need_each_other() {
    assert_refused(&["--kinds", "id", "--tls", "1.3"], &["TLS 1.3 knows no session IDs"]);
    assert_refused(&["--key", "key.pem"], &["--cert"]);
    assert_refused(&["--no-request", "-H", "A: b"], &["cannot be used with"]);
}

#[test]
fn targets_of_another_form() {
    for (target, words) in [
        ("http://example.org", "only TLS is measured"),
        ("example.org:70000", "'70000' is no port"),
        ("user@example.org", "no user name or password"),
        ("exa_mple.org:x", "'x' is no port"),
        ("[::1", "bracket"),
        ("a b", "no host name"),
        ("", "names no host"),
    ] {
        Reprise::new(["measure", target]).run().exits(2).says(&[words]);
    }
}

#[test]
fn without_arguments_help_is_shown_and_that_is_an_error() {
    let outcome = Reprise::new([""; 0]).run().exits(2);
    assert!(outcome.stderr.contains("Usage: reprise") && outcome.stderr.contains("Examples:"));
}

#[test]
fn help_and_version_are_no_errors() {
    Reprise::new(["--help"]).run().exits(0).silently().shows(&["Usage: reprise", "Examples:", "reprise measure"]);
    Reprise::new(["measure", "--help"]).run().exits(0).silently().shows(&["Examples:", "--kinds ticket", "--no-request"]);
    Reprise::new(["--version"]).run().exits(0).silently().shows(&[concat!("reprise ", env!("CARGO_PKG_VERSION"))]);
}
