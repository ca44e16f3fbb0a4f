//! Five processes with one store: every session of one resumes on every other.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use reprise_engine::{Config, Offer, Session};
use reprise_model::{EarlyData, Kind, Version};
use reprise_session_tests::client::{FULL, Visit, visit};
use reprise_session_tests::fleet::{Fleet, Node};
use reprise_session_tests::store::Store;
use reprise_session_tests::{PATIENCE, require_store, until};
use reprise_wire::{ContentType, ExtensionType, Handshake, Record, ServerHello};

const NODE: &str = env!("CARGO_BIN_EXE_session-node");

/// The four ways to resume: version, whether nodes have tickets, what a client asks for and what it then observes.
const WAYS: [(Version, &str, Offer, Kind); 4] = [
    (Version::Tls12, "tickets", FULL, Kind::Ticket),
    (Version::Tls12, "store", Offer::Full { session_ticket: false }, Kind::Id),
    (Version::Tls13, "tickets", FULL, Kind::Ticket),
    (Version::Tls13, "store", FULL, Kind::Ticket),
];

fn fleet(store: &Store, means: &str) -> Fleet {
    let url = format!("store={}", store.url());
    // Enough for a machine that is busy with other tests; the budget itself is tested in `faults`.
    Fleet::new(NODE, &[&url, &format!("means={means}"), "budget=2000"])
}

/// A session of `issuer`, once it is stored: writes go on behind the handshake.
fn session(issuer: &Node, client: &Arc<Config>, ask: &Offer, store: &Store, stored: bool) -> Visit {
    let visited = visit(issuer.address, client, ask.clone(), "/").unwrap();
    assert_eq!(visited.kind, Kind::Full);
    if stored {
        store.wait_for(&visited);
    }
    visited
}

#[test]
fn every_node_resumes_every_nodes_sessions() {
    require_store!();
    for (version, means, ask, kind) in WAYS {
        let store = Store::start(&[]);
        let fleet = fleet(&store, means);
        let nodes = fleet.five(&[]);
        let client = fleet.client(version);
        for (from, issuer) in nodes.iter().enumerate() {
            for (to, other) in nodes.iter().enumerate() {
                let first = session(issuer, &client, &ask, &store, means == "store");
                let second = visit(other.address, &client, first.offer(), "/").unwrap();
                assert_eq!(second.kind, kind, "{version:?} {means}: {from} to {to}");
                assert!(second.body.contains("Resumed"), "{}", second.body);
            }
        }
    }
}

#[test]
fn a_rolling_restart_keeps_sessions() {
    require_store!();
    for (version, means, ask, kind) in WAYS {
        let store = Store::start(&[]);
        let fleet = fleet(&store, means);
        let mut nodes = fleet.five(&[]);
        let client = fleet.client(version);
        let before = session(&nodes[0], &client, &ask, &store, means == "store");
        for node in &mut nodes {
            *node = fleet.node(&[]);
        }
        assert_eq!(visit(nodes[4].address, &client, before.offer(), "/").unwrap().kind, kind, "{version:?} {means}");
    }
}

#[test]
fn early_data_replayed_to_another_node_is_refused() {
    require_store!();
    let store = Store::start(&[]);
    let fleet = fleet(&store, "store");
    let nodes = fleet.five(&["early=1000", "window=1"]);
    let client = fleet.client(Version::Tls13);
    let early = |visit: &Visit| match visit.sessions.last() {
        Some(Session::Tls13(ticket)) if ticket.max_early_data.is_some() => Some(Offer::Early(ticket.clone())),
        _ => None,
    };
    // Before its window is over no node says that it would take any; then full handshakes say so.
    let allows = |node: &Node| session(node, &client, &FULL, &store, true);
    for node in &nodes {
        until("early data is allowed", || early(&allows(node)).is_some());
    }
    let first = allows(&nodes[0]);
    let accepted = visit(nodes[1].address, &client, early(&first).unwrap(), "/").unwrap();
    assert_eq!((accepted.kind, accepted.early_data), (Kind::Early, Some(EarlyData::Accepted)));
    let metric = "reprise_session_handshakes_total{kind=\"early\"}";
    assert_eq!(fleet.metric(&nodes[1], metric), 1.0);
    for node in &nodes {
        assert!(!resumes(node.address, &accepted.first_flight), "without a PSK there is no early data");
    }
}

/// Whether a node takes up a PSK of a recorded first flight.
fn resumes(address: SocketAddr, flight: &[u8]) -> bool {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(flight).unwrap();
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some((record, _)) = Record::parse(&answer).unwrap() {
            assert_eq!(record.content_type, ContentType::HANDSHAKE);
            let (message, _) = Handshake::parse(record.fragment).unwrap().unwrap();
            let hello = ServerHello::parse(message.body).unwrap();
            return hello.extensions.unwrap().contains(ExtensionType::PRE_SHARED_KEY);
        }
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0);
        answer.extend_from_slice(&buffer[..count]);
    }
}
