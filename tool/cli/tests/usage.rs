//! What cannot be: exit 2 before anything is connected to, nothing on standard output, and a message that names what is wrong and what
//! would be right. How a value may be written is tested beside its parser.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

use reprise_harness::{Outcome, Reprise};

/// A command line, and words of the message.
type Refused = (&'static str, &'static [&'static str]);

/// As one would type it: what stands between `'` is one argument. `NOWHERE` is a target where nobody listens, so that a call that should
/// have been refused fails with another code.
fn call(line: &str) -> Reprise {
    let line = line.replace("NOWHERE", "127.0.0.1:1");
    let parts = line.split('\'').enumerate();
    let arguments =
        parts.flat_map(|(place, part)| if place % 2 == 1 { vec![part] } else { part.split_whitespace().collect() });
    Reprise::without_plugins("").args(arguments)
}

#[track_caller]
fn assert_refused(refused: &[Refused]) {
    for (line, words) in refused {
        assert_eq!(call(line).run().exits(2).says(words).page, "", "{line}");
    }
}

#[test]
fn values_of_another_form_are_refused() {
    assert_refused(&[
        ("measure NOWHERE --count 0", &["--count", "1..=1000000"]),
        ("measure NOWHERE -n 1000001", &["1000001", "1..=1000000"]),
        ("measure NOWHERE -n many", &["invalid digit"]),
        ("measure NOWHERE --speed", &["unexpected argument '--speed'"]),
        ("measure NOWHERE --tls 1.1", &["1.1", "1.2"]),
        ("measure NOWHERE --kinds fast", &["fast", "full, id, ticket"]),
        ("measure NOWHERE --ciphers ROT13", &["unknown cipher suite 'ROT13'"]),
        ("measure NOWHERE --like netscape", &["netscape", "chrome", "all"]),
        ("load NOWHERE --like all", &["all", "chrome"]),
        ("measure NOWHERE --like go --groups x25519", &["--like", "--groups"]),
        ("measure NOWHERE --like all --every 1s", &["--every watches one client"]),
        ("measure NOWHERE --like all --session-out s.tickets", &["--session-out"]),
        ("measure --like all", &["--like all needs a target"]),
        ("measure NOWHERE --groups x448", &["is not supported", "x25519"]),
        ("measure NOWHERE --connections sometimes", &["close", "keepalive"]),
        ("measure NOWHERE --timeout soon", &["500ms, 10s or 2m"]),
        ("measure NOWHERE --header 'no colon'", &["Name: value"]),
        ("measure NOWHERE --header 'Connection: close'", &["--connections close"]),
        ("measure NOWHERE --path index.html", &["starts with /"]),
        ("measure NOWHERE --method 'GE T'", &["invalid HTTP method"]),
        ("measure NOWHERE --resolve localhost", &["--resolve"]),
        ("measure NOWHERE --sni - --insecure", &["--sni"]),
        ("measure NOWHERE --session-out -", &["--session-out", "name a file"]),
        ("measure NOWHERE --ticket-requests 256 -k", &["invalid number of tickets '256': 0 to 255"]),
        ("measure NOWHERE --proxy-protocol v3", &["protocol version 'v3'"]),
        ("measure NOWHERE --fail-if 'tls.full > 5'", &["--fail-if", "column 13: expected a unit: ns, us, µs, ms, s"]),
        ("measure NOWHERE --every soon", &["10s, 2m or 8h"]),
        ("measure NOWHERE --every 25h", &["at most one day"]),
        ("trace NOWHERE --kind full", &["full", "id, ticket, early, psk"]),
        ("trace NOWHERE --count many", &["invalid value 'many' for '--count <N>'"]),
        ("diagnose --listen nowhere", &["invalid listen address"]),
        ("load NOWHERE --mix id", &["TLS 1.3 has no session IDs: use ticket in --mix, or --tls 1.2"]),
        ("load NOWHERE --mix psk", &["psk"]),
        ("load NOWHERE --rate 10 --step pNaN=1s", &["p99=20ms"]),
        ("load NOWHERE --proxy-protocol v3", &["v1 or v2"]),
        (
            "compare fall",
            &["possible values: resumption, full, mutual, psk, post-quantum, pregenerate, throughput, memory, stacks"],
        ),
        ("compare full --keys p-257", &["unknown key 'p-257'"]),
        ("compare full --groups p-257", &["unknown group 'p-257'"]),
        ("compare full --stacks rustls-ring,opensssl", &["unknown stack 'opensssl'; available: rustls-aws-lc"]),
        ("stacks check opensssl", &["unknown stack 'opensssl'"]),
        ("layers --levels context", &["unknown level 'context'; known: load, run"]),
        ("layers --stacks opensssl", &["unknown stack 'opensssl'"]),
        ("layers --client-key dsa", &["unknown key 'dsa'"]),
        ("layers --count 0", &["0 is not in 1..=1000000"]),
    ]);
    let long = "x".repeat(256);
    call("measure NOWHERE --alpn").arg(long).run().exits(2).says(&["--alpn", "255 bytes"]);
}

#[test]
fn flags_that_exclude_or_need_each_other_are_refused() {
    assert_refused(&[
        ("measure NOWHERE --kinds id --tls 1.3", &["TLS 1.3 has no session IDs"]),
        ("measure NOWHERE --key key.pem", &["--cert"]),
        ("measure NOWHERE --no-request -H A:b", &["cannot be used with"]),
        ("measure NOWHERE --no-request --connections keepalive", &["--connections keepalive", "--no-request"]),
        ("measure NOWHERE --groups ''", &["--groups", "omit the flag"]),
        ("measure NOWHERE --ciphers ,:", &["--ciphers", "omit the flag"]),
        ("measure NOWHERE --alpn h2,http/1.1 -H 'Transfer-Encoding: chunked'", &["Transfer-Encoding", "h2 from --alpn"]),
        ("measure NOWHERE --repeats 2", &["--every"]),
        ("measure NOWHERE --every 1s --repeats 0", &["--repeats"]),
        ("measure NOWHERE --metrics 127.0.0.1:1", &["--every"]),
        ("measure NOWHERE --every 1s --csv -", &["cannot be used with"]),
        ("measure NOWHERE --session-passphrase-file a", &["--session-in or --session-out"]),
        ("measure NOWHERE --session-in no-such-file -k", &["cannot read the sessions in no-such-file"]),
        ("measure NOWHERE --session-out no-such-folder/file -k", &["cannot write sessions to no-such-folder/file"]),
        ("measure --session-out a", &["need a target"]),
        ("trace NOWHERE --kind id --tls 1.2,1.3", &["TLS 1.3 has no session IDs"]),
        ("trace NOWHERE --kind psk --insecure", &["--psk-identity NAME"]),
        ("trace NOWHERE --kind early --tls 1.2", &["the kind early requires TLS 1.3"]),
        ("trace NOWHERE --kind early --insecure -X PUT", &["PUT is not sent as early data"]),
        ("trace NOWHERE --kind early --insecure --no-request", &["--no-request"]),
        ("trace NOWHERE --session-in no-such-file --insecure", &["no-such-file"]),
        ("trace NOWHERE --cert no-such-file.pem", &["no-such-file.pem"]),
        ("trace NOWHERE --ca no-such-file.pem", &["no-such-file.pem"]),
        ("trace NOWHERE --pcap - --json -", &["only one of --json and --pcap can go to standard output"]),
        ("trace NOWHERE --insecure --json both.out --pcap both.out", &["--json and --pcap name the same file"]),
        ("diagnose --name a.test example.org", &["--listen"]),
        ("diagnose --listen 0 example.org", &["cannot be used with"]),
        ("diagnose --listen 0 -- /nonexistent/program", &["cannot run /nonexistent/program"]),
        ("diagnose --listen 0 --cert /nonexistent.pem -- true", &["/nonexistent.pem"]),
        ("diagnose NOWHERE --server-pid 4294967295", &["no such process"]),
        ("diagnose NOWHERE 127.0.0.1:10 --server-pid 1", &["exactly one target"]),
        ("load", &["TARGET"]),
        ("load NOWHERE --step p99=1s", &["--rate"]),
        ("load NOWHERE --stage 1s:10 --rate 10", &["'--stage <DURATION:R>' cannot be used with '--rate <R>'"]),
        ("load NOWHERE --stage 1s:10 --duration 1s", &["cannot be used with '--duration <DURATION>'"]),
        ("load NOWHERE --stage 1s:10 --step p99=1s", &["cannot be used with"]),
        ("load NOWHERE --sweep 0..100", &["use resumed=0..100"]),
        ("load NOWHERE --sweep resumed=0..100 --stage 1s:1", &["cannot be used with '--stage"]),
        ("load NOWHERE --plan 1000", &["--plan needs the server's processor time", "--server-pid"]),
        ("load NOWHERE --plan 1000 --server-pid 1 --sweep resumed=50", &["two shares at least"]),
        ("load NOWHERE --gap 30s", &["--plan <R>"]),
        ("load NOWHERE --stage 500", &["30s:500"]),
        ("load NOWHERE --ciphers ECDHE-RSA-AES128-GCM-SHA256", &["TLS 1.3"]),
        ("load NOWHERE --tls 1.2 --groups X25519MLKEM768", &["X25519MLKEM768 is a group of TLS 1.3"]),
        ("load NOWHERE --start-at 1", &["--start-at"]),
        ("load NOWHERE --starttls smtp -X POST", &["sends no HTTP request"]),
        ("load NOWHERE --alpn h2 -H 'Upgrade: x'", &["specific to HTTP/1.1"]),
        ("load NOWHERE --fail-if 'server_cpu > 1us'", &["it needs --server-pid"]),
        ("load NOWHERE --fail-if 'p99 > 1ms'", &["latency or a phase with p99"]),
        ("load NOWHERE --starttls smtp --fail-if 'status.5xx > 0'", &["no HTTP request is sent"]),
        ("load NOWHERE --json x.out --junit x.out", &["give each its own"]),
        // RFC 5737, section 3: an address that is nobody's.
        ("load 192.0.2.1:443 -n 1", &["--i-may-load-this-target"]),
        ("report --merge /nowhere/at/all.json", &["/nowhere/at/all.json"]),
        ("compare full --tls 1.2 --groups X25519MLKEM768", &["no handshake of 'full' matches these flags"]),
        ("compare full --quick --samples 9", &["--samples"]),
        ("layers localhost:1 --client-key p-256", &["cannot be used with"]),
    ]);
}

#[test]
fn what_leaves_a_version_or_a_kind_nothing_to_offer() {
    assert_refused(&[
        ("measure NOWHERE --tls 1.3 --ciphers ECDHE-ECDSA-AES128-GCM-SHA256", &["no suite of TLS 1.3", "--tls 1.3 needs"]),
        ("measure NOWHERE --tls 1.2,1.3 --ciphers TLS_AES_128_GCM_SHA256", &["no suite of TLS 1.2", "--tls 1.2 needs"]),
        ("measure NOWHERE --kinds id,full --ciphers TLS_AES_128_GCM_SHA256", &["no suite of TLS 1.2", "the kind id needs"]),
        (
            "measure NOWHERE --kinds early --ciphers ECDHE-ECDSA-AES128-GCM-SHA256",
            &["no suite of TLS 1.3", "the kind early needs"],
        ),
        ("measure NOWHERE --tls 1.2 --psk-identity me --psk-key 00", &["a PSK requires TLS 1.3"]),
    ]);
}

#[test]
fn flags_of_a_psk_that_make_no_sense() {
    assert_refused(&[
        ("measure NOWHERE --kinds psk -k", &["--psk-identity NAME", "--psk-key HEX"]),
        ("measure NOWHERE --psk-identity a -k", &["--psk-key HEX or --psk-key-file FILE"]),
        ("measure NOWHERE --psk-key 00", &["--psk-identity"]),
        ("measure NOWHERE --psk-identity '' --psk-key 00", &["at least one byte"]),
        ("measure NOWHERE --psk-identity a --psk-key abc", &["even number of hexadecimal digits"]),
        ("measure NOWHERE --psk-identity a --psk-key 00 --psk-key-file b", &["cannot be used with"]),
        ("measure NOWHERE --psk-identity a --psk-key-file no-such-file -k", &["no-such-file"]),
        ("measure NOWHERE --psk-identity a --psk-key 00 --psk-hash md5", &["sha256", "sha384"]),
        ("measure NOWHERE --psk-mode dhe", &["psk_dhe_ke", "psk_ke", "both"]),
        ("measure NOWHERE --psk-identity a --psk-key 00 -k --kinds psk --tls 1.2", &["the kind psk requires TLS 1.3"]),
        (
            "measure NOWHERE --psk-identity a --psk-key 00 -k --psk-hash sha384 --ciphers TLS_AES_128_GCM_SHA256",
            &["--psk-hash"],
        ),
    ]);
}

#[test]
fn flags_of_the_route_that_make_no_sense() {
    assert_refused(&[
        ("measure NOWHERE --starttls gopher", &["invalid value 'gopher' for '--starttls <PROTOCOL>'", "smtp, imap"]),
        ("measure NOWHERE --starttls smtp --path /x", &["sends no HTTP request"]),
        ("measure NOWHERE --starttls smtp --connections keepalive", &["cannot be used with --starttls smtp"]),
        ("measure --starttls smtp", &["need a target"]),
        ("measure NOWHERE --proxy proxy:3128", &["--proxy", "a proxy is http://HOST:PORT"]),
    ]);
}

#[test]
fn targets_of_another_form_are_refused() {
    assert_refused(&[
        ("measure http://example.org", &["only TLS is measured"]),
        ("measure example.org:70000", &["invalid port '70000'"]),
        ("measure exa_mple.org:x", &["invalid port 'x'"]),
        ("measure [::1", &["bracket"]),
        ("measure 'a b'", &["invalid host name"]),
        ("measure ''", &["has no host"]),
        // An address in short is no name of a certificate.
        ("measure 127.1:1", &["not a valid server name", "--sni NAME"]),
        ("measure 0x7f.1:1", &["not a valid server name", "--sni NAME"]),
    ]);
}

/// Logs keep what stands on standard error.
#[test]
fn no_secret_is_repeated_by_what_complains_of_it() {
    let refused = |line: String, words: &[&str]| {
        let outcome = call(&line).run().exits(2).says(words);
        assert!(!outcome.stderr.contains("tuna"), "{line}: {}", outcome.stderr);
    };
    for command in ["measure", "trace", "load"] {
        for target in ["me:tuna@localhost", "https://me:tuna@localhost/", "https://m@e:tuna@localhost:0"] {
            refused(format!("{command} {target}"), &["a target has no user name or password", "@localhost"]);
        }
    }
    for command in ["measure", "trace"] {
        let refused = |flags: &str, words: &[&str]| refused(format!("{command} NOWHERE {flags}"), words);
        refused("--psk-identity a --psk-key tuna", &["--psk-key", "hexadecimal"]);
        refused("-H 'Bearer tuna'", &["--header", "Name: value"]);
        refused("'--header=Connection: tuna'", &["--header", "--connections close"]);
        refused("--proxy ftp://me:tuna@proxy", &["--proxy", "a proxy is http://HOST:PORT"]);
    }
}

#[test]
fn help_and_version_are_no_errors() {
    let printed = |line: &str| -> Outcome { call(line).run().exits(0).silently() };
    printed("--help").shows(&["Usage: reprise", "Examples:", "reprise measure"]);
    printed("measure --help").shows(&["Examples:", "--kinds ticket", "--no-request"]);
    printed("trace --help").shows(&["--pcap", "message by message", "Examples:"]);
    printed("--version").shows(&[concat!("reprise ", env!("CARGO_PKG_VERSION"))]);
    // Without arguments it is shown too, and that is an error.
    call("").run().exits(2).says(&["Usage: reprise", "Examples:"]);
}
