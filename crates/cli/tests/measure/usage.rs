//! Flags that make no sense: exit 2, and a message that names the flag and what it takes.

use reprise_harness::Reprise;

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
    assert_refused(&["--ciphers", "ROT13"], &["unknown cipher suite 'ROT13'"]);
    assert_refused(&["--ciphers", "DHE-RSA-AES128-GCM-SHA256"], &["is not supported"]);
    assert_refused(&["--groups", "x448"], &["is not supported", "x25519"]);
    assert_refused(&["--connections", "sometimes"], &["close", "keepalive"]);
}

#[test]
fn values_of_another_form() {
    assert_refused(&["--timeout", "0s"], &["500ms, 10s or 2m"]);
    assert_refused(&["--timeout", "soon"], &["500ms, 10s or 2m"]);
    assert_refused(&["--header", "no colon"], &["Name: value"]);
    assert_refused(&["--header", "Connection: close"], &["--connections close"]);
    assert_refused(&["--path", "index.html"], &["starts with /"]);
    assert_refused(&["--method", "GE T"], &["invalid HTTP method"]);
    assert_refused(&["--resolve", "localhost"], &["--resolve"]);
    assert_refused(&["--alpn", &"x".repeat(256)], &["--alpn", "255 bytes"]);
    assert_refused(&["--sni", "-", "--insecure"], &["--sni"]);
}

#[test]
fn flags_that_exclude_or_need_each_other() {
    assert_refused(&["--kinds", "id", "--tls", "1.3"], &["TLS 1.3 has no session IDs"]);
    assert_refused(&["--key", "key.pem"], &["--cert"]);
    assert_refused(&["--no-request", "-H", "A: b"], &["cannot be used with"]);
    assert_refused(&["--no-request", "--connections", "keepalive"], &["--connections keepalive", "--no-request"]);
}

/// Logs keep what stands on standard error.
#[test]
fn no_secret_is_repeated_by_what_complains_of_it() {
    let refused = |arguments: &[&str], words: &[&str]| {
        let outcome = Reprise::new(arguments).run().exits(2).says(words);
        assert!(!outcome.stderr.contains("tuna"), "{arguments:?}: {}", outcome.stderr);
    };
    for command in ["measure", "trace", "load"] {
        for target in ["me:tuna@localhost", "https://me:tuna@localhost/", "https://m@e:tuna@localhost:0"] {
            refused(&[command, target], &["a target has no user name or password", "@localhost"]);
        }
    }
    for command in ["measure", "trace"] {
        refused(&[command, NOWHERE, "--psk-identity", "a", "--psk-key", "tuna"], &["--psk-key", "hexadecimal"]);
        refused(&[command, NOWHERE, "-H", "Bearer tuna"], &["--header", "Name: value"]);
        refused(&[command, NOWHERE, "--header=Connection: tuna"], &["--header", "--connections close"]);
    }
}

#[test]
fn lists_that_name_nothing() {
    for list in ["--groups", "--ciphers"] {
        assert_refused(&[list, ""], &[list, "omit the flag"]);
        assert_refused(&[list, ",:"], &[list, "omit the flag"]);
    }
}

#[test]
fn what_leaves_a_version_or_a_kind_nothing_to_offer() {
    let [tls12, tls13] = ["ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_AES_128_GCM_SHA256"];
    let psk = ["--psk-identity", "me", "--psk-key", "00"];
    assert_refused(&["--tls", "1.3", "--ciphers", tls12], &["no suite of TLS 1.3", "--tls 1.3 needs"]);
    assert_refused(&["--tls", "1.2,1.3", "--ciphers", tls13], &["no suite of TLS 1.2", "--tls 1.2 needs"]);
    assert_refused(&["--kinds", "id,full", "--ciphers", tls13], &["no suite of TLS 1.2", "the kind id needs"]);
    assert_refused(&["--kinds", "early", "--ciphers", tls12], &["no suite of TLS 1.3", "the kind early needs"]);
    assert_refused(&[&["--tls", "1.2"], &psk[..]].concat(), &["a PSK requires TLS 1.3"]);
}

#[test]
fn fields_of_http1_where_http2_may_be_chosen() {
    assert_refused(&["--alpn", "h2,http/1.1", "-H", "Transfer-Encoding: chunked"], &["Transfer-Encoding", "h2 from --alpn"]);
}

#[test]
fn sessions_are_not_printed() {
    assert_refused(&["--session-out", "-"], &["--session-out", "name a file"]);
}

#[test]
fn an_address_in_short_is_no_name_of_a_certificate() {
    for target in ["127.1:1", "0x7f.1:1"] {
        Reprise::new(["measure", target]).run().exits(2).says(&["not a valid server name", "--sni NAME"]);
    }
}

#[test]
fn targets_of_another_form() {
    for (target, words) in [
        ("http://example.org", "only TLS is measured"),
        ("example.org:70000", "invalid port '70000'"),
        ("user@example.org", "no user name or password"),
        ("exa_mple.org:x", "invalid port 'x'"),
        ("[::1", "bracket"),
        ("a b", "invalid host name"),
        ("", "has no host"),
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
