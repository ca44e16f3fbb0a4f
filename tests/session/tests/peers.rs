//! Clients of other authors: what they say of their sessions at another node than the one that gave them.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use reprise_lab::require;
use reprise_session_tests::fleet::{Fleet, Node};
use reprise_session_tests::require_store;
use reprise_session_tests::store::Store;

const NODE: &str = env!("CARGO_BIN_EXE_session-node");
/// Version, what resumes, and whether the client may take tickets.
const WAYS: [(&str, &str, bool); 4] =
    [("1.2", "tickets", true), ("1.2", "store", false), ("1.3", "tickets", true), ("1.3", "store", true)];

fn fleet(store: &Store, means: &str) -> Fleet {
    let url = format!("store={}", store.url());
    Fleet::new(NODE, &[&url, &format!("means={means}"), "budget=2000"])
}

/// Runs a client, says a request to it, and returns what it printed.
fn run(program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new("timeout");
    command.args(["60", program]).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // It may end before it has read everything.
    let _ = input.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let output = child.wait_with_output().unwrap();
    drop(input);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn openssl_resumes_at_every_other_node() {
    require_store!();
    require!("openssl");
    for (version, means, tickets) in WAYS {
        let store = Store::start(&[]);
        let fleet = fleet(&store, means);
        let nodes = fleet.five(&[]);
        let ca = fleet.file("ca.pem", &fleet.authority.pem());
        let session = fleet.folder().join("session.pem");
        let connect = |node: &Node, option: &str| {
            let address = node.address.to_string();
            let flag = if version == "1.2" { "-tls1_2" } else { "-tls1_3" };
            let mut arguments = vec!["s_client", "-connect", &address, "-servername", "localhost", "-CAfile"];
            arguments.extend([ca.to_str().unwrap(), "-verify_return_error", "-ign_eof", flag]);
            arguments.extend([option, session.to_str().unwrap()]);
            if !tickets {
                arguments.push("-no_ticket");
            }
            run("openssl", &arguments)
        };
        for other in &nodes[1..] {
            let first = connect(&nodes[0], "-sess_out");
            assert!(first.contains("\nNew, ") && first.contains("kind=Some(Full)"), "{version} {means}: {first}");
            thread::sleep(Duration::from_millis(100));
            let second = connect(other, "-sess_in");
            assert!(second.contains("\nReused, ") && second.contains("kind=Some(Resumed)"), "{version} {means}: {second}");
        }
    }
}

#[test]
fn gnutls_resumes_at_another_node() {
    require_store!();
    require!("gnutls-cli");
    for (version, means, tickets) in WAYS {
        let store = Store::start(&[]);
        let fleet = fleet(&store, means);
        let nodes = fleet.five(&[]);
        let ca = fleet.file("ca.pem", &fleet.authority.pem());
        let address = in_turns(nodes.iter().map(|node| node.address).collect());
        let no_tickets = if tickets { "" } else { ":%NO_TICKETS" };
        let priority = format!("NORMAL:-VERS-ALL:+VERS-TLS{version}{no_tickets}");
        let port = address.port().to_string();
        let printed = run(
            "gnutls-cli",
            &[
                "--resume",
                "--waitresumption",
                "--x509cafile",
                ca.to_str().unwrap(),
                "--priority",
                &priority,
                "-p",
                &port,
                "localhost",
            ],
        );
        assert!(printed.contains("*** This is a resumed session"), "{version} {means}: {printed}");
        assert!(printed.contains("kind=Some(Resumed)"), "{version} {means}: {printed}");
    }
}

/// An address whose connections go to these in turns, as behind a balancer.
fn in_turns(addresses: Vec<SocketAddr>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (index, client) in listener.incoming().enumerate() {
            let client = client.unwrap();
            // GnuTLS comes back at once, and a stored session is written behind the handshake.
            thread::sleep(Duration::from_millis(100));
            let server = TcpStream::connect(addresses[index % addresses.len()]).unwrap();
            for (mut from, mut to) in [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)] {
                thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
    address
}
