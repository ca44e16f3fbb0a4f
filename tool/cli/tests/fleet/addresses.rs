//! Nodes that are addresses of one name, and nodes that are not reached.

use std::net::{SocketAddr, TcpListener};

use reprise_harness::Lab;
use reprise_lab::KeyKind;
use reprise_servers::{Nginx, NginxConfig, RealServer};

use crate::fleet::apart::nginx;
use crate::fleet::examined::{Examined, Prepared, addresses, examine, prepared, prepared_for};

/// One nginx at both families of the loopback, with a key of its own at the second address of IPv4.
fn examined_at(resolve: &str) -> Examined {
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let mut config = nginx(&identity, 0);
    config.listen = vec!["default_server; listen [::1]:{port} ssl".to_owned()];
    config.files.push(("other.key", [9; 80].into()));
    config.http_directives += "
        server {
            listen 127.0.0.2:{port} ssl;
            ssl_certificate {root}/server-0-cert.pem;
            ssl_certificate_key {root}/server-0-key.pem;
            ssl_session_ticket_key other.key;
            ssl_protocols TLSv1.2 TLSv1.3;
            location / { return 200; }
        }";
    let node = Nginx::start(NginxConfig { port: None, ..config }).unwrap();
    let target = format!("localhost:{}", node.address().port());
    let prepared = prepared_for(&lab, [target], &format!("--all-addresses {resolve}"));
    prepared.run_to_its_end()
}

#[test]
fn addresses_of_both_families_are_nodes_of_one_name() {
    reprise_servers::require!("nginx");
    let examined = examined_at("--resolve 127.0.0.1 --resolve ::1 --resolve 127.0.0.1");
    examined.assert_healthy(2);
    let addresses: Vec<&str> = examined.fleet().nodes.iter().filter_map(|it| it.address.as_deref()).collect();
    assert!(addresses[0].starts_with("127.0.0.1:") && addresses[1].starts_with("[::1]:"), "{addresses:?}");
}

#[test]
fn an_address_with_a_key_of_its_own_stands_apart() {
    reprise_servers::require!("nginx");
    let examined = examined_at("--resolve 127.0.0.1 --resolve ::1 --resolve 127.0.0.2");
    assert_eq!((examined.blamed(), examined.group_sizes()), (vec!["ticket-key-per-node"], vec![2, 1]), "{}", examined.page);
}

/// A client chooses among the addresses of a name, and no balancer does.
#[test]
fn an_address_of_a_name_that_is_down_is_no_share_of_a_balancer() {
    reprise_servers::require!("nginx");
    let examined = examined_at("--resolve 127.0.0.1 --resolve ::1 --resolve 127.0.0.4");
    assert_eq!((examined.blamed(), examined.code), (vec!["node-down"], 1), "{}", examined.page);
    assert!(!examined.page.contains("balancer") && !examined.page.contains('%'), "{}", examined.page);
    assert!(examined.page.contains("take the address out of DNS"), "{}", examined.page);
    assert!(examined.page.contains("the other addresses of the name are not"), "{}", examined.page);
    assert_eq!(examined.fleet().shared, Some(1.0), "of those that answer");
}

/// An address that nobody listens at; whoever holds it keeps others from it.
fn nowhere() -> (TcpListener, SocketAddr) {
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = held.local_addr().unwrap();
    (held, SocketAddr::from(([127, 0, 0, 3], address.port())))
}

/// A balancer would send connections there all the same.
#[test]
fn a_node_that_is_not_reached_is_down_and_shares_nothing() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let nodes = [0, 0].map(|key| Nginx::start(nginx(&identity, key)).unwrap());
    let (_held, nowhere) = nowhere();
    let all: Vec<SocketAddr> = addresses(&nodes).into_iter().chain([nowhere]).collect();
    let prepared = prepared(&lab, &all, "");
    let reprise = prepared.reprise.arg("--fail-if").arg("fleet.shared < 100%");
    let prepared = Prepared { reprise, ..prepared };
    let examined = prepared.run_to_its_end();
    assert_eq!((examined.blamed(), examined.code), (vec!["node-down"], 1), "{}", examined.page);
    assert!((examined.fleet().shared.unwrap() - 4.0 / 9.0).abs() < 1e-9, "{:?}", examined.fleet().mechanisms);
    assert!(examined.page.contains("met      --fail-if 'fleet.shared < 100%'"), "{}", examined.page);
    examined.assert_fits();
}

#[test]
fn a_fleet_of_which_no_node_is_reached_has_failed() {
    let lab = Lab::new();
    let (_held, one) = nowhere();
    let (_held_too, other) = nowhere();
    let examined = examine(&lab, &[one, other], "");
    assert_eq!((examined.blamed(), examined.code, examined.fleet().shared), (vec![], 3, None), "{}", examined.page);
}
