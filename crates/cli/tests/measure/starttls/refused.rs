//! Services that do not begin TLS, or not as they should: each a clear error, and exit 3.

use reprise_servers::{MisbehavingServer, ScriptStep};

use reprise_harness::{Lab, Reprise};

fn says(bytes: impl AsRef<[u8]>) -> ScriptStep {
    ScriptStep::Send(bytes.as_ref().to_vec())
}

#[track_caller]
fn assert_fails(protocol: &str, script: Vec<ScriptStep>, words: &[&str]) {
    let server = MisbehavingServer::start(script).unwrap();
    let lab = Lab::new();
    let call = lab.measure(server.address()).args(["--starttls", protocol]).timeout("1s");
    let outcome = call.run().exits(3).says(words);
    assert_eq!(outcome.page, "");
    assert_eq!(outcome.document().failures.len(), 1);
}

#[test]
fn a_refusal_is_quoted() {
    let ehlo = || [says("220 mail\r\n"), ScriptStep::Read(18), says("250-mail\r\n250 STARTTLS\r\n"), ScriptStep::Read(10)];
    let script = ehlo().into_iter().chain([says("502 5.5.1 not \x1b[31mimplemented\r\n"), ScriptStep::Stall]).collect();
    assert_fails("smtp", script, &["the server refuses STARTTLS: \"502 5.5.1 not \\u{1b}[31mimplemented\""]);
    assert_fails("smtp", vec![says("554 no\r\n"), ScriptStep::Close], &["does not greet but says \"554 no\""]);
    assert_fails("imap", vec![says("* BYE busy\r\n"), ScriptStep::Close], &["does not greet but says \"* BYE busy\""]);
    let imap = vec![says("* OK\r\n"), ScriptStep::Read(12), says("a BAD unknown\r\n"), ScriptStep::Close];
    assert_fails("imap", imap, &["refuses STARTTLS: \"a BAD unknown\""]);
    assert_fails("pop3", vec![says("+OK\r\n"), ScriptStep::Read(6), says("-ERR no\r\n")], &["refuses STLS: \"-ERR no\""]);
    assert_fails(
        "ftp",
        vec![says("220 a\r\n"), ScriptStep::Read(10), says("500 no\r\n")],
        &["refuses AUTH TLS: \"500 no\""],
    );
    let unavailable = b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x34\x04\x00\x04\x00";
    assert_fails("ldap", vec![ScriptStep::Read(31), says(unavailable)], &["result code 52", "without TLS"]);
    let blocked = b"\x0d\0\0\0\xff\x69\x04Host is no";
    assert_fails("mysql", vec![says(blocked)], &["does not greet but says \"Host is no\""]);
    let plain = [&b"\x1e\0\0\0\x0a8.0\0"[..], &[0; 25]].concat();
    assert_fails("mysql", vec![says(plain)], &["CLIENT_SSL is not among its capabilities"]);
    let features = "<stream:stream><stream:features></stream:features>";
    assert_fails("xmpp", vec![ScriptStep::Read(20), says(features), ScriptStep::Stall], &["does not offer STARTTLS"]);
}

#[test]
fn garbage() {
    for protocol in ["smtp", "imap", "pop3", "ftp", "ldap", "postgres", "mysql", "xmpp"] {
        assert_fails(
            protocol,
            vec![says("\x07HTTP/1.1 400 Bad Request\r\n\r\n"), ScriptStep::Stall],
            &["check the port", protocol],
        );
    }
}

#[test]
fn a_server_that_closes() {
    for protocol in ["smtp", "imap", "pop3", "ftp", "ldap", "postgres", "mysql", "xmpp"] {
        assert_fails(protocol, vec![ScriptStep::Close], &["the server closed the connection without a"]);
    }
}

#[test]
fn silence() {
    let words = ["no greeting within 1 s from the server", "remove --starttls", "--timeout"];
    assert_fails("smtp", vec![ScriptStep::Stall], &words);
    assert_fails("postgres", vec![ScriptStep::Stall], &["no answer to SSLRequest within 1 s"]);
}

#[test]
fn endless_lines_end() {
    let lines = "220-more\r\n".repeat(4096);
    assert_fails("smtp", vec![says(&lines), ScriptStep::Stall], &["sent 16384 bytes without a greeting"]);
    assert_fails("imap", vec![says("* ".to_owned() + &lines.replace('\n', "")), ScriptStep::Stall], &["sent 16384 bytes"]);
}

/// CVE-2011-0411 and CVE-2021-23222: what comes with the consent was said by somebody on the path.
#[test]
fn what_is_slipped_in_before_tls_is_told() {
    let words = ["the server sent extra bytes before TLS", "an attacker on the path"];
    assert_fails("postgres", vec![ScriptStep::Read(8), says("SE"), ScriptStep::Stall], &words);
    let imap = vec![says("* OK\r\n"), ScriptStep::Read(12), says("a OK go\r\n* CAPABILITY\r\n"), ScriptStep::Stall];
    assert_fails("imap", imap, &words);
}

#[test]
fn after_consent_it_must_be_tls() {
    let script = vec![ScriptStep::Read(8), says("S"), ScriptStep::ReadRecord, says("no TLS here"), ScriptStep::Close];
    assert_fails("postgres", script, &["does not speak TLS"]);
}

#[test]
fn flags_that_make_no_sense() {
    let refused = |arguments: &[&str], words: &[&str]| {
        Reprise::new(["measure"]).args(arguments).run().exits(2).says(words);
    };
    refused(&["127.0.0.1:1", "--starttls", "gopher"], &["unknown STARTTLS protocol 'gopher'", "smtp, imap"]);
    refused(&["127.0.0.1:1", "--starttls", "smtp", "--path", "/x"], &["sends no HTTP request"]);
    refused(&["127.0.0.1:1", "--starttls", "smtp", "--connections", "keepalive"], &["cannot be used with --starttls smtp"]);
    refused(&["--starttls", "smtp"], &["need a target"]);
    refused(&["127.0.0.1:1", "--proxy-protocol", "v3"], &["protocol version 'v3'"]);
    refused(&["127.0.0.1:1", "--proxy", "proxy:3128"], &["--proxy", "a proxy is http://HOST:PORT"]);
    let secret = Reprise::new(["measure", "127.0.0.1:1", "--proxy", "ftp://me:secret@proxy"]).run().exits(2);
    assert!(!secret.stderr.contains("secret"), "{}", secret.stderr);
}

/// Without a port, it is the protocol's own.
#[test]
fn each_protocol_has_its_port() {
    for (protocol, port) in [("smtp", 25), ("postgres", 5432), ("xmpp", 5222)] {
        let call = Reprise::measure("192.0.2.1").args(["--starttls", protocol, "-k"]).timeout("1ms");
        assert_eq!(call.run().exits(3).document().target.port, port);
    }
}
