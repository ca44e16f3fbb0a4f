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
fn a_closed_port_is_told_and_stands_in_the_document() {
    let address = closed_port();
    let outcome = measure(address).says(&[&format!("cannot connect to {address}: connection refused"), "check the port"]);
    let document = outcome.document();
    assert_eq!((document.runs.len(), document.all_connections.failed, document.interrupted), (0, 1, false));
    assert_eq!((document.failures[0].name.as_str(), outcome.page.as_str()), ("connection_refused", ""));
    let alone = Reprise::new([address.to_string()]).args(["--insecure", "-n", "1"]).run();
    alone.exits(3).says(&["connection refused"]);
    measure("nobody.invalid").says(&["cannot resolve nobody.invalid", "--resolve ADDRESS"]);
}

#[test]
fn whatever_speaks_no_tls_is_told_by_what_it_does() {
    let cases: [(MisbehavingServer, &[&str]); 4] = [
        (MisbehavingServer::plain_http().unwrap(), &["does not speak TLS", "HTTP/1.1 400", "plain HTTP", "443"]),
        (MisbehavingServer::silent().unwrap(), &["no ServerHello within 1 s", "may not speak TLS", "--timeout"]),
        (MisbehavingServer::garbage().unwrap(), &["does not speak TLS", "59 00 a7"]),
        (MisbehavingServer::closing().unwrap(), &["closed the connection without an answer to the ClientHello"]),
    ];
    for (server, words) in cases {
        measure(server.address()).says(words);
    }
}
