//! `--proxy`: what the proxy is asked, what becomes of the phases, and what is said where it refuses. Every dialogue byte for byte, and
//! every refusal, stands in `tls/connection/src/prologue`.

use reprise_lab::{EmbeddedResumption, Turn};
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{MisbehavingServer, ScriptStep};

use reprise_harness::{Gate, Lab, hears, says};

const USER_AGENT: &str = concat!("User-Agent: reprise/", env!("CARGO_PKG_VERSION"));
const TUNNEL: &str = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 Connection established\r\nContent-Length: 9\r\n\r\n";

/// Of localhost at this port, by base64 of me:secret.
fn by_http(port: u16) -> Vec<Turn> {
    let (to, password) = (format!("localhost:{port}"), "Proxy-Authorization: Basic bWU6c2VjcmV0");
    vec![hears(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{USER_AGENT}\r\n{password}\r\n\r\n")), says(TUNNEL)]
}

fn by_socks_with_names(port: u16) -> Vec<Turn> {
    let request = [&b"\x05\x01\0\x03\x09localhost"[..], &port.to_be_bytes()].concat();
    let password = [hears(b"\x05\x02\0\x02"), says(b"\x05\x02"), hears(b"\x01\x02me\x06secret"), says(b"\x01\0")];
    password.into_iter().chain([hears(request), says(b"\x05\0\0\x01\x7f\0\0\x01\0\0")]).collect()
}

fn by_socks_with_addresses(port: u16) -> Vec<Turn> {
    let request = [&b"\x05\x01\0\x01\x7f\0\0\x01"[..], &port.to_be_bytes()].concat();
    vec![hears(b"\x05\x01\0"), says(b"\x05\0"), hears(request), says(b"\x05\0\0\x03\x01x\0\0")]
}

#[test]
fn a_proxy_is_passed_and_timed() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let port = server.address().port();
    // Where the proxy resolves the name, what it found is not known here.
    type Script = fn(u16) -> Vec<Turn>;
    let cases: [(&str, &str, Script, Option<&str>, u64); 3] = [
        ("http", "me:s%65cret@", by_http, None, 2),
        ("socks5h", "me:secret@", by_socks_with_names, None, 4),
        ("socks5", "", by_socks_with_addresses, Some("127.0.0.1"), 3),
    ];
    for (scheme, credentials, script, address, round_trips) in cases {
        let gate = Gate::before(server.address(), script(port));
        let proxy = format!("{scheme}://{credentials}{}", gate.address());
        let target = format!("{}:{port}", address.unwrap_or("localhost"));
        let outcome = lab.measure(target).args(["-x", &proxy, "--tls", "1.3"]).count(3).run();
        assert_eq!(gate.misheard(), [""; 0]);
        let outcome = outcome.exits(0).shows(&[&format!("through {scheme}://127.0.0.1:"), "proxy"]);
        let run = outcome.measured(Version::Tls13, Kind::Ticket);
        assert!(run.n == 3 && run.phases.contains_key(&Phase::Proxy) && !run.phases.contains_key(&Phase::Starttls));
        assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(round_trips), "{scheme}");
        let target = outcome.document().target;
        assert_eq!(target.proxy, Some(format!("{scheme}://{}", gate.address())));
        assert_eq!(target.address.as_deref(), address, "{scheme}");
        assert!(!outcome.json.unwrap().contains("secret"));
    }
}

#[test]
fn a_proxy_that_refuses_is_told_with_what_to_do() {
    let lab = Lab::new();
    let answers = |bytes: &[u8]| vec![ScriptStep::Read(1), ScriptStep::Send(bytes.to_vec()), ScriptStep::Close];
    let cases: [(&str, Vec<ScriptStep>, &[&str]); 4] = [
        (
            "http://",
            answers(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"),
            &["asks for a user name", "http://USER:PASSWORD@"],
        ),
        ("http://", vec![ScriptStep::Stall], &["no response to CONNECT within 1 s from the proxy"]),
        (
            "socks5h://",
            answers(b"\x05\0\x05\x02\0\x01\0\0\0\0\0\0"),
            &["refuses to connect to target.invalid:443", "ruleset"],
        ),
        ("socks5h://", vec![ScriptStep::Close], &["the proxy closed the connection"]),
    ];
    for (scheme, script, words) in cases {
        let server = MisbehavingServer::start(script).unwrap();
        let proxy = format!("{scheme}{}", server.address());
        lab.measure("target.invalid").args(["--proxy", &proxy]).timeout("1s").run().exits(3).says(words);
    }
    let gone = lab.measure("target.invalid").args(["--proxy", "http://127.0.0.1:1"]).run();
    gone.exits(3).says(&["cannot connect to the proxy 127.0.0.1:1: connection refused"]);
}
