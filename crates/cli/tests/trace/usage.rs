//! Bad input: exit 2 and a message that names it; targets that fail: exit 3 and what to do.

use reprise_servers::MisbehavingServer;

use reprise_harness::Reprise;

/// Nobody listens there, so that a call that should have been refused fails with another code.
const NOWHERE: &str = "127.0.0.1:1";

#[track_caller]
fn assert_refused(arguments: &[&str], words: &[&str]) {
    let outcome = Reprise::new(["trace", NOWHERE]).args(arguments).run().exits(2).says(words);
    assert_eq!(outcome.page, "");
}

#[test]
fn flags_that_make_no_sense() {
    assert_refused(&["--tls", "1.1"], &["1.1", "1.2"]);
    assert_refused(&["--kind", "full"], &["full", "id, ticket, early, psk"]);
    assert_refused(&["--kind", "id", "--tls", "1.3"], &["TLS 1.3 has no session IDs"]);
    assert_refused(&["--kind", "id", "--tls", "1.2,1.3"], &["TLS 1.3 has no session IDs"]);
    assert_refused(&["--kind", "psk", "--insecure"], &["--psk-identity NAME"]);
    assert_refused(&["--kind", "early", "--tls", "1.2"], &["the kind early requires TLS 1.3"]);
    assert_refused(&["--kind", "early", "--insecure", "-X", "PUT"], &["PUT is not sent as early data"]);
    assert_refused(&["--kind", "early", "--insecure", "--no-request"], &["--no-request"]);
    assert_refused(&["--session-in", "no-such-file", "--insecure"], &["no-such-file"]);
    assert_refused(&["--count", "3"], &["unexpected argument '--count'"]);
    assert_refused(&["--timeout", "0s"], &["500ms, 10s or 2m"]);
    assert_refused(&["--ciphers", "ROT13"], &["unknown cipher suite 'ROT13'"]);
    assert_refused(&["--no-request", "-H", "A: b"], &["cannot be used with"]);
    assert_refused(&["--key", "key.pem"], &["--cert"]);
    assert_refused(&["--cert", "no-such-file.pem"], &["no-such-file.pem"]);
    assert_refused(&["--ca", "no-such-file.pem"], &["no-such-file.pem"]);
    assert_refused(&["--pcap", "-", "--json", "-"], &["only one of --json and --pcap can go to standard output"]);
}

#[test]
fn who_is_not_there_or_speaks_no_tls() {
    Reprise::new(["trace", NOWHERE, "--insecure"]).run().exits(3).says(&["refused"]);
    let server = MisbehavingServer::plain_http().unwrap();
    let outcome = Reprise::new(["trace", &server.address().to_string()]).arg("--insecure").run();
    let outcome = outcome.exits(3).says(&["does not speak TLS"]);
    assert_eq!(outcome.page, "");
}
