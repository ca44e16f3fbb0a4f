//! `--proxy`: what the proxy is asked byte for byte, what becomes of the phases, and every way in which it may refuse.

use reprise_lab::{Resumption, Turn};
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{MisbehavingServer, ScriptStep};

use reprise_harness::{Gate, Lab, Outcome, hears, says};

const USER_AGENT: &str = concat!("User-Agent: reprise/", env!("CARGO_PKG_VERSION"));
const TUNNEL: &str = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 Connection established\r\nContent-Length: 9\r\n\r\n";

/// Measures `localhost` through a proxy that keeps to the script.
#[track_caller]
fn through(scheme: &str, credentials: &str, script: impl Fn(u16) -> Vec<Turn>) -> Outcome {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let port = server.address().port();
    let gate = Gate::before(server.address(), script(port));
    let proxy = format!("{scheme}://{credentials}{}", gate.address());
    let target = format!("localhost:{port}");
    let outcome = lab.measure(target).args(["--proxy", &proxy, "--tls", "1.3"]).count(3).run();
    assert_eq!(gate.misheard(), [""; 0]);
    let outcome = outcome.exits(0);
    let run = outcome.measured(Version::Tls13, Kind::Ticket);
    assert!(run.n == 3 && run.phases.contains_key(&Phase::Proxy) && !run.phases.contains_key(&Phase::Starttls));
    let shown = outcome.document();
    assert_eq!(shown.target.proxy, Some(format!("{scheme}://{}", gate.address())));
    assert!(!outcome.json.as_deref().unwrap_or_default().contains("secret"));
    outcome
}

#[test]
fn http_connect() {
    let outcome = through("http", "", |port| {
        let request = format!("CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost:{port}\r\n{USER_AGENT}\r\n\r\n");
        vec![hears(request), says(TUNNEL)]
    });
    // The proxy resolves the name: what it found is not known here.
    assert_eq!(outcome.document().target.address, None);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(2));
    outcome.shows(&["through http://127.0.0.1:", "proxy"]);
}

#[test]
fn http_connect_with_a_password() {
    through("http", "me:s%65cret@", |port| {
        let to = format!("localhost:{port}");
        // base64 of me:secret
        let password = "Proxy-Authorization: Basic bWU6c2VjcmV0";
        vec![hears(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{USER_AGENT}\r\n{password}\r\n\r\n")), says(TUNNEL)]
    });
}

#[test]
fn socks5_with_names_and_a_password() {
    through("socks5h", "me:secret@", |port| {
        let request = [&b"\x05\x01\0\x03\x09localhost"[..], &port.to_be_bytes()].concat();
        let password = vec![hears(b"\x05\x02\0\x02"), says(b"\x05\x02"), hears(b"\x01\x02me\x06secret"), says(b"\x01\0")];
        password.into_iter().chain([hears(request), says(b"\x05\0\0\x01\x7f\0\0\x01\0\0")]).collect()
    });
}

#[test]
fn socks5_with_addresses() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Off);
    let request = [&b"\x05\x01\0\x01\x7f\0\0\x01"[..], &server.address().port().to_be_bytes()].concat();
    let script = vec![hears(b"\x05\x01\0"), says(b"\x05\0"), hears(request), says(b"\x05\0\0\x03\x01x\0\0")];
    let gate = Gate::before(server.address(), script);
    let call = lab.measure(server.address()).arg("-x").arg(format!("socks5://{}", gate.address()));
    let outcome = call.count(1).run();
    assert_eq!(gate.misheard(), [""; 0]);
    assert_eq!(outcome.exits(0).document().target.address.as_deref(), Some("127.0.0.1"));
}

#[track_caller]
fn assert_fails(scheme: &str, script: Vec<ScriptStep>, words: &[&str]) {
    let server = MisbehavingServer::start(script).unwrap();
    let proxy = format!("{scheme}{}", server.address());
    let lab = Lab::new();
    lab.measure("target.invalid").args(["--proxy", &proxy]).timeout("1s").run().exits(3).says(words);
}

fn answers(bytes: &[u8]) -> Vec<ScriptStep> {
    vec![ScriptStep::Read(1), ScriptStep::Send(bytes.to_vec()), ScriptStep::Close]
}

#[test]
fn an_http_proxy_that_refuses() {
    let answer = |status: &str| answers(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes());
    assert_fails("http://", answer("407 Proxy Authentication Required"), &["asks for a user name", "http://USER:PASSWORD@"]);
    assert_fails("http://me:x@", answer("407 No"), &["does not accept the user name and password (407)"]);
    assert_fails("http://", answer("403 Forbidden"), &["refuses to connect to target.invalid:443", "403", "no tunnel"]);
    assert_fails("http://", answer("502 Bad Gateway"), &["\"HTTP/1.1 502 Bad Gateway\"", "may not reach the target"]);
    assert_fails("http://", answers(b"SSH-2.0-x\r\n"), &["invalid response to CONNECT from the proxy", "SSH-2.0-x"]);
    assert_fails("http://", vec![ScriptStep::Close], &["the proxy closed the connection without a response to CONNECT"]);
    assert_fails("http://", vec![ScriptStep::Stall], &["no response to CONNECT within 1 s from the proxy"]);
    let endless = format!("HTTP/1.1 200 OK\r\n{}", "X: y\r\n".repeat(8192));
    assert_fails("http://", answers(endless.as_bytes()), &["sent 16384 bytes"]);
}

#[test]
fn a_socks_proxy_that_refuses() {
    assert_fails("socks5h://", answers(b"\x05\xff"), &["the proxy asks for a user name and a password"]);
    assert_fails("socks5h://me:x@", answers(b"\x05\xff"), &["accepts neither a user name and password nor"]);
    assert_fails("socks5h://me:x@", answers(b"\x05\x02\x01\x01"), &["does not accept the user name and password"]);
    for (code, words) in
        [(1, "general SOCKS server failure"), (2, "ruleset"), (4, "host unreachable"), (5, "connection refused")]
    {
        let reply = [&b"\x05\0\x05"[..], &[code], b"\0\x01\0\0\0\0\0\0"].concat();
        assert_fails("socks5h://", answers(&reply), &["refuses to connect to target.invalid:443", words]);
    }
    assert_fails("socks5h://", answers(b"HTTP/1.1 400\r\n"), &["invalid choice of a method", "http:// or socks5://"]);
    assert_fails("socks5h://", vec![ScriptStep::Close], &["the proxy closed the connection"]);
}

#[test]
fn a_proxy_that_is_not_there() {
    let lab = Lab::new();
    let outcome = lab.measure("target.invalid").args(["--proxy", "http://127.0.0.1:1"]).run();
    outcome.exits(3).says(&["cannot connect to the proxy 127.0.0.1:1: connection refused"]);
}
