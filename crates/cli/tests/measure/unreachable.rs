//! Targets that cannot be measured at all: exit 3, and a message that says what to do.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use reprise_servers::MisbehavingServer;

use reprise_harness::{Lab, Outcome, Reprise};

/// A port where nobody listens: it was free a moment ago.
fn closed_port() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).unwrap()
}

fn measure(target: impl ToString) -> Outcome {
    Lab::new().measure(target).timeout("1s").run().exits(3)
}

#[test]
fn a_closed_port() {
    let address = closed_port();
    let outcome = measure(address);
    assert_eq!(outcome.page, "");
    outcome.says(&[&format!("cannot connect to {address}: connection refused"), "check the port"]);
}

#[test]
fn a_target_alone_means_measure() {
    let outcome = Reprise::new([closed_port().to_string()]).args(["--insecure", "-n", "1"]).run();
    outcome.exits(3).says(&["connection refused"]);
}

#[test]
fn a_server_of_plain_http() {
    let server = MisbehavingServer::plain_http().unwrap();
    measure(server.address()).says(&["does not speak TLS", "HTTP/1.1 400", "plain HTTP", "443"]);
}

#[test]
fn silence() {
    let server = MisbehavingServer::silent().unwrap();
    measure(server.address()).says(&["no ServerHello within 1 s", "may not speak TLS", "--timeout"]);
}

#[test]
fn garbage() {
    let server = MisbehavingServer::garbage().unwrap();
    measure(server.address()).says(&["does not speak TLS", "59 00 a7"]);
}

#[test]
fn a_server_that_closes_at_once() {
    let server = MisbehavingServer::closing().unwrap();
    measure(server.address()).says(&["closed the connection without an answer to the ClientHello"]);
}

#[test]
fn a_name_that_does_not_resolve() {
    let outcome = measure("nobody.invalid");
    outcome.says(&["cannot resolve nobody.invalid", "--resolve ADDRESS"]);
}

#[test]
fn what_failed_is_in_the_document() {
    let address = closed_port();
    let document = measure(address).document();
    assert_eq!((document.runs.len(), document.all_connections.failed, document.interrupted), (0, 1, false));
    assert_eq!(document.failures[0].name, "connection_refused");
}
