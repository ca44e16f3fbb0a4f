//! Behind one address, one node that verifies clients and one that does not: full handshakes come to both, so that nothing is a breach
//! that a session enters.

use reprise_model::document::IsolationVerdict;
use reprise_servers::{Balancing, ClientVerify, Nginx, NginxConfig, RealServer, require, start_balancer};

use crate::isolation::scene::Scene;

#[test]
fn a_place_that_refuses_at_times_is_accused_of_nothing() {
    require!("nginx");
    let scene = Scene::new();
    let start = |client_verify| {
        let config = NginxConfig {
            client_verify,
            http_directives: "ssl_session_ticket_key ticket.key;".to_owned(),
            files: vec![("ticket.key", vec![7; 80])],
            ..NginxConfig::new(vec![scene.server.clone()])
        };
        Nginx::start(config).unwrap()
    };
    let open = start(ClientVerify::Off);
    let nodes = [start(ClientVerify::Required(scene.authority_pem.clone())), start(ClientVerify::Off)];
    let balancer = start_balancer(nodes.iter().map(RealServer::address).collect(), Balancing::RoundRobin).unwrap();
    let targets = [open.address(), balancer.address()].map(|address| format!("localhost:{}", address.port()));
    let found = scene.isolation(&[&targets[0], &targets[1]], &["--resolve", "127.0.0.1"]);
    assert_eq!(found.told(IsolationVerdict::Broken), [""; 0], "{:#?}", found.document.isolation);
    assert_eq!(found.outcome.code, 0, "{}", found.outcome.stderr);
}
