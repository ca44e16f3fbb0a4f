//! What lies before TLS, and HTTP/2 under it, on a trace: the phases, the page, and the servers' own accounts.

use reprise_lab::{EmbeddedResumption, KeyKind};
use reprise_model::Kind;
use reprise_model::document::{Trace, TracedConnection};
use reprise_servers::{Account, Exim, EximConfig, RealServer};

use crate::trace::traced::{full, only, trace};
use reprise_harness::{DEADLINE, Gate, Lab, hears, nginx_behind_proxy, nginx_listening, says};

/// A full connection and one that a ticket resumed.
#[track_caller]
fn both(traced: &Trace) -> [&TracedConnection; 2] {
    let both = [full(traced), traced.resumed.as_ref().unwrap()];
    assert_eq!(both.map(|connection| connection.outcome.kind), [Kind::Full, Kind::Ticket]);
    both
}

/// The server knows these two, and no other.
#[track_caller]
fn assert_known(connections: [&TracedConnection; 2], server: &mut dyn RealServer) {
    let known = |account: Account| (account.client_port, account.resumed);
    let accounts: Vec<_> = server.accounts_when(2, DEADLINE).unwrap().into_iter().map(known).collect();
    let claimed = connections.map(|it| (it.local_port, it.outcome.kind != Kind::Full));
    assert!(accounts.len() == 2 && claimed.iter().all(|it| accounts.contains(it)), "{accounts:?} are not {claimed:?}");
}

#[test]
fn starttls() {
    reprise_servers::require!("exim4");
    let lab = Lab::new();
    let mut server = Exim::start(EximConfig { resumption: true, ..EximConfig::new(lab.identity(KeyKind::P256)) }).unwrap();
    let (outcome, document) = trace(&lab, server.address(), &["--starttls", "smtp"]);
    let outcome =
        outcome.exits(0).silently().shows(&["smtp://127.0.0.1:", "after STARTTLS", "starttls", "resumed by ticket"]);
    assert!(!outcome.page.contains("proxy"), "{}", outcome.page);
    assert_eq!((document.target.starttls.as_deref(), document.target.path.as_deref()), (Some("smtp"), None));
    let connections = both(only(&document));
    for connection in connections {
        assert!(connection.phases.starttls.is_some() && connection.phases.proxy.is_none(), "{:?}", connection.phases);
        // The greeting, EHLO, STARTTLS, the handshake.
        assert_eq!(connection.round_trips, 4);
        assert_eq!(connection.events.first().unwrap().what.name(), "ClientHello", "what is said in the clear is no message");
    }
    assert_known(connections, &mut server);
}

#[test]
fn a_proxy() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let target = format!("localhost:{}", server.address().port());
    let agent = concat!("User-Agent: reprise/", env!("CARGO_PKG_VERSION"));
    let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{agent}\r\n\r\n");
    let gate = Gate::before(server.address(), vec![hears(request), says("HTTP/1.1 200 OK\r\n\r\n")]);
    let (outcome, document) = trace(&lab, &target, &["--proxy", &format!("http://{}", gate.address())]);
    assert_eq!(gate.misheard(), [""; 0]);
    let outcome =
        outcome.exits(0).silently().shows(&[&format!("through http://{}", gate.address()), "round proxy tls total"]);
    assert!(!outcome.page.contains("starttls"), "{}", outcome.page);
    assert_eq!(document.target.address, None, "the proxy resolves the name");
    for connection in both(only(&document)) {
        assert!(connection.phases.proxy.is_some() && connection.phases.starttls.is_none(), "{:?}", connection.phases);
        assert_eq!((connection.round_trips, connection.http_status), (2, Some(200)));
    }
}

#[test]
fn the_proxy_header() {
    reprise_servers::require!("nginx");
    for version in ["v1", "v2"] {
        let lab = Lab::new();
        let (mut nginx, address) = nginx_behind_proxy(&lab);
        let (outcome, document) = trace(&lab, address, &["--proxy-protocol", version]);
        outcome.exits(0).silently();
        assert_eq!(document.target.proxy_protocol.as_deref(), Some(version));
        let connections = both(only(&document));
        // It is sent with nothing to wait for: the handshake remains the only round trip.
        assert_eq!(connections.map(|connection| connection.round_trips), [1, 1]);
        assert_known(connections, &mut nginx);
    }
}

#[test]
fn http2() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let (mut nginx, address) = nginx_listening(&lab, "ssl http2", "");
    let (outcome, document) = trace(&lab, address, &["--alpn", "h2"]);
    outcome.exits(0).silently().shows(&["ALPN h2"]);
    let connections = both(only(&document));
    for connection in connections {
        assert_eq!((connection.outcome.alpn.as_deref(), connection.http_status), (Some("h2"), Some(200)));
    }
    assert_known(connections, &mut nginx);
}
