//! Names, addresses, and what the server is told of them.

use std::net::{Ipv6Addr, SocketAddr, TcpListener};

use reprise_lab::{EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec};
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer};

use reprise_harness::{Lab, not_run, wait_until};

#[test]
fn ipv6_in_brackets() {
    let any = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    if TcpListener::bind(any).is_err() {
        return not_run("IPv6 on loopback");
    }
    let lab = Lab::new();
    let server = lab.server_with(|config| config.listen = any);
    let outcome = lab.measure(server.address()).count(2).run().exits(0);
    let document = outcome.document();
    assert_eq!((document.target.host.as_str(), document.target.address.as_deref()), ("::1", Some("::1")));
    assert_eq!(document.all_connections.full, server.completed());
    outcome.shows(&[&format!("https://[::1]:{}/", server.address().port())]);
}

#[test]
fn a_name_is_resolved_for_every_connection() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let outcome = lab.measure(format!("localhost:{}", server.address().port())).count(3).run().exits(0);
    let full = outcome.measured(Version::Tls13, Kind::Full);
    assert!(full.phases.contains_key(&Phase::Resolve));
    let [resolve, total] = [Phase::Resolve, Phase::Total].map(|phase| full.phases[&phase].min_ns);
    assert!(resolve > 0 && total > resolve);
}

/// `localhost` is both ::1, where nobody listens, and 127.0.0.1 on most machines.
#[test]
fn no_connection_is_made_to_find_the_address_that_answers() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let port = server.address().port();
    let document = lab.measure(format!("localhost:{port}")).count(2).run().exits(0).document();
    assert_eq!(document.target.address.as_deref(), Some("127.0.0.1"));
    let all = document.all_connections;
    assert_eq!((all.full + all.ticket, all.failed), (server.completed(), 0));
    assert_eq!(server.failures().len(), 0, "a connection without a handshake");

    drop(server);
    let outcome = lab.measure(format!("localhost:{port}")).count(2).run().exits(3);
    outcome.says(&[&format!("cannot connect to 127.0.0.1:{port}: connection refused"), "check the port"]);
}

#[test]
fn an_address_is_not_resolved() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let outcome = lab.measure(server.address()).count(1).run().exits(0);
    assert!(!outcome.measured(Version::Tls13, Kind::Full).phases.contains_key(&Phase::Resolve), "unknown is absent, not 0");
}

/// An nginx for one name that no resolver knows, which answers 200 to who asks for it by SNI and by Host.
fn named_server(lab: &Lab) -> Nginx {
    let spec = ServerSpec { names: vec![NAME.to_owned()], ..ServerSpec::new(KeyKind::P256) };
    let config = NginxConfig {
        server_directives: format!(
            "location = /sni {{ if ($ssl_server_name != {NAME}) {{ return 503; }} return 200; }}\n\
             location = /host {{ if ($host != {NAME}) {{ return 503; }} return 200; }}"
        ),
        ..NginxConfig::new(vec![lab.authority.server(&spec).unwrap()])
    };
    Nginx::start(config).unwrap()
}

const NAME: &str = "api.example.invalid";

#[test]
fn resolve_connects_elsewhere_and_keeps_the_name() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nginx = named_server(&lab);
    for path in ["/sni", "/host"] {
        let target = format!("{NAME}:{}{path}", nginx.address().port());
        let outcome = lab.measure(target).args(["--resolve", "127.0.0.1"]).count(2).run().exits(0);
        assert_eq!(outcome.measured(Version::Tls12, Kind::Full).http_status.keys().collect::<Vec<_>>(), [&200], "{path}");
        assert_eq!(outcome.document().target.address.as_deref(), Some("127.0.0.1"));
        outcome.shows(&[NAME, "at 127.0.0.1"]);
    }
}

#[test]
fn sni_sends_another_name_and_verifies_it() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nginx = named_server(&lab);
    let outcome = lab.measure(format!("{}/sni", nginx.address())).args(["--sni", NAME]).count(2).run().exits(0);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).http_status.keys().collect::<Vec<_>>(), [&200]);
    let other = lab.measure(nginx.address()).args(["--sni", "other.example"]).run();
    other.exits(3).says(&["not valid for other.example", NAME]);
}

#[test]
fn an_address_is_never_sent_as_a_name() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let config = NginxConfig {
        server_directives: "location = /sni { if ($ssl_server_name) { return 503; } return 200; }".to_owned(),
        ..NginxConfig::new(vec![lab.identity(KeyKind::P256)])
    };
    let nginx = Nginx::start(config).unwrap();
    let outcome = lab.measure(format!("{}/sni", nginx.address())).count(1).run().exits(0);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).http_status.keys().collect::<Vec<_>>(), [&200]);
}

#[test]
fn a_server_whose_backlog_is_long_is_waited_for() {
    let lab = Lab::new();
    let config = EmbeddedConfig { max_connections: 1, ..EmbeddedConfig::new(lab.identity(KeyKind::P256)) };
    let server = EmbeddedServer::start(config).unwrap();
    let two = [(); 2].map(|()| lab.measure(server.address()).count(3).start());
    for running in two {
        running.finish().exits(0);
    }
    wait_until("all served", || server.completed() >= 2 * (3 + 1));
}
