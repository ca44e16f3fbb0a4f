//! Clients of other authors: what they say of their sessions at another node than the one that gave them.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use reprise_servers::require;
use reprise_session_tests::fleet::{Fleet, Node};
use reprise_session_tests::store::Store;
use reprise_session_tests::{require_store, until};

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
        let ca = fleet.file("ca.pem", fleet.authority.pem());
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
            if means == "store" {
                let id = session_id(&session);
                until("the session is stored", || store.holds(&id));
            }
            let second = connect(other, "-sess_in");
            assert!(second.contains("\nReused, ") && second.contains("kind=Some(Resumed)"), "{version} {means}: {second}");
        }
    }
}

/// Under which name the store has what OpenSSL saved.
fn session_id(saved: &Path) -> Vec<u8> {
    let text = run("openssl", &["sess_id", "-in", saved.to_str().unwrap(), "-noout", "-text"]);
    // Of a TLS 1.3 session, a dump of lines: an offset, up to sixteen bytes, what can be printed of them.
    let dump = text.split_once("TLS session ticket:\n").map(|(_, dump)| {
        let lines = dump.lines().map_while(|line| line.trim().split_once(" - "));
        lines.map(|(_, line)| line.get(..47).unwrap_or(line).replace([' ', '-'], "")).collect::<String>()
    });
    let id = || text.lines().find_map(|line| line.trim().strip_prefix("Session-ID: ")).unwrap().to_owned();
    let digits = dump.unwrap_or_else(id);
    let byte = |index: usize| u8::from_str_radix(&digits[index..index + 2], 16).unwrap();
    let id: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
    assert_eq!(id.len(), 32, "{text}");
    id
}

#[test]
fn gnutls_resumes_at_another_node() {
    require_store!();
    require!("gnutls-cli");
    for (version, means, tickets) in WAYS {
        let store = Store::start(&[]);
        let fleet = fleet(&store, means);
        let nodes = fleet.five(&[]);
        let ca = fleet.file("ca.pem", fleet.authority.pem());
        // GnuTLS comes back at once, and a stored session is written behind the handshake: two with TLS 1.3, beside the ring.
        let expected = if means == "tickets" {
            1
        } else if version == "1.3" {
            3
        } else {
            2
        };
        // By its address: whoever asks lives on after the test, and the store must not.
        let at = store.address();
        let size = move || Store::ask_at(at, "DBSIZE")?.trim().strip_prefix(':')?.parse::<u64>().ok();
        let is_stored = move || size().is_some_and(|size| size >= expected);
        let address = in_turns(nodes.iter().map(|node| node.address).collect(), is_stored);
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

/// An address whose connections go to these in turns, as behind a balancer; the first at once, others when the store is ready.
fn in_turns(addresses: Vec<SocketAddr>, is_stored: impl Fn() -> bool + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (index, client) in listener.incoming().enumerate() {
            let client = client.unwrap();
            if index > 0 {
                until("the sessions are stored", &is_stored);
            }
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
