//! Five processes with one store: every session of one resumes on every other.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reprise_engine::{Config, Offer, Session};
use reprise_lab::Authority;
use reprise_model::{EarlyData, Kind, Version};
use reprise_session_tests::client::{FULL, Visit, visit};
use reprise_session_tests::fleet::{Fleet, Node};
use reprise_session_tests::proxy::{Network, Proxy};
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
        let client = fleet.client(version, None);
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
        let client = fleet.client(version, None);
        let before = session(&nodes[0], &client, &ask, &store, means == "store");
        for node in &mut nodes {
            *node = fleet.node(&[]);
        }
        assert_eq!(visit(nodes[4].address, &client, before.offer(), "/").unwrap().kind, kind, "{version:?} {means}");
    }
}

#[test]
fn a_renewal_keeps_sessions_and_a_change_of_policy_does_not() {
    require_store!();
    for (version, means, ask, kind) in WAYS {
        let store = Store::start(&[]);
        let fleet = fleet(&store, means);
        let [clients, others] = [(); 2].map(|()| Authority::new().unwrap());
        let identity = clients.client("client.test").unwrap();
        let ca = fleet.file("clients.pem", clients.pem());
        let both = fleet.file("both.pem", clients.pem() + &others.pem());
        let required = format!("client-ca={}", ca.display());
        let client = fleet.client(version, Some(&identity));
        let node = fleet.node(&[&required]);
        let fresh = || session(&node, &client, &ask, &store, means == "store").offer();
        let kind_at = |settings: &[&str], offer| {
            let other = fleet.node(settings);
            visit(other.address, &client, offer, "/").unwrap().kind
        };
        fleet.renew(&["localhost", "127.0.0.1"]);
        assert_eq!(kind_at(&[&required], fresh()), kind, "renewed: {version:?} {means}");
        assert_eq!(kind_at(&[&format!("client-ca={}", both.display())], fresh()), Kind::Full, "another client CA");
        assert_eq!(kind_at(&[&required, "client-auth=optional"], fresh()), Kind::Full, "another verification mode");
        assert_eq!(kind_at(&[], fresh()), Kind::Full, "no verification");
        fleet.renew(&["localhost", "127.0.0.1", "other.test"]);
        assert_eq!(kind_at(&[&required], fresh()), Kind::Full, "other names");
    }
}

#[test]
fn during_rotation_every_ticket_in_its_life_resumes() {
    require_store!();
    const LIFETIME: u64 = 4;
    let store = Store::start(&[]);
    let mut fleet = fleet(&store, "tickets");
    fleet.settings.extend([format!("lifetime={LIFETIME}"), "refresh=100".to_owned()]);
    let nodes = fleet.five(&[]);
    let client = fleet.client(Version::Tls13, None);
    let end = Instant::now() + Duration::from_secs(4 * LIFETIME);
    let mut waiting: Vec<(Instant, Instant, Visit)> = Vec::new();
    let (mut inside, mut outside, mut index) = (0, 0, 0);
    while Instant::now() < end || !waiting.is_empty() {
        if Instant::now() < end {
            for node in &nodes {
                let before = Instant::now();
                let first = visit(node.address, &client, FULL, "/").unwrap();
                waiting.push((before, Instant::now(), first));
            }
        }
        // Half of them are offered young and half too late; times are whole seconds.
        waiting.retain_mut(|(issued, ended, first)| {
            let age = issued.elapsed();
            let young = first.sessions.len() == 2;
            index += 1;
            let other = &nodes[index % nodes.len()];
            let kind = |first: &mut Visit| {
                let offer = first.offer();
                first.sessions.pop();
                visit(other.address, &client, offer, "/").unwrap().kind
            };
            if young && age.as_secs_f64() > LIFETIME as f64 - 2.0 && age.as_secs_f64() < LIFETIME as f64 - 1.2 {
                let kind = kind(first);
                // Unless this process was kept waiting.
                if issued.elapsed() < Duration::from_secs(LIFETIME - 1) {
                    assert_eq!(kind, Kind::Ticket, "{age:?}");
                    inside += 1;
                }
            }
            if ended.elapsed() < Duration::from_secs(LIFETIME + 1) {
                return true;
            }
            assert_eq!(kind(first), Kind::Full, "{age:?}");
            outside += 1;
            false
        });
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(inside > 30 && outside > 30, "{inside} inside, {outside} outside");
    assert!(fleet.metric(&nodes[0], "reprise_session_ring_version") >= 4.0);
}

#[test]
fn early_data_replayed_to_another_node_is_refused() {
    require_store!();
    let store = Store::start(&[]);
    let fleet = fleet(&store, "store");
    let nodes = fleet.five(&["early=1000", "window=1"]);
    let client = fleet.client(Version::Tls13, None);
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

#[test]
fn early_data_saves_a_round_trip() {
    require_store!();
    let store = Store::start(&[]);
    let fleet = fleet(&store, "store");
    let node = fleet.node(&["early=1000", "window=1"]);
    let client = fleet.client(Version::Tls13, None);
    let is_early =
        |visit: &Visit| matches!(visit.sessions.last(), Some(Session::Tls13(ticket)) if ticket.max_early_data.is_some());
    until("early data is allowed", || is_early(&session(&node, &client, &FULL, &store, true)));
    let way = Proxy::before(node.address);
    way.set(Network::Far);
    // Answered in one round trip of 200 ms, where a resumed handshake takes two. A busy machine may need a few attempts.
    until("early data saves a round trip", || {
        let took = |early: bool| {
            let first = session(&node, &client, &FULL, &store, true);
            let offer = match first.sessions.last() {
                Some(Session::Tls13(ticket)) if early => Offer::Early(ticket.clone()),
                _ => first.offer(),
            };
            let begun = Instant::now();
            let visited = visit(way.address, &client, offer, "/").unwrap();
            assert_eq!(visited.kind, if early { Kind::Early } else { Kind::Ticket });
            begun.elapsed()
        };
        let (resumed, early) = (took(false), took(true));
        println!("100 ms each way: answered after {resumed:?} resumed, {early:?} with early data");
        assert!(resumed >= Duration::from_millis(400));
        early < Duration::from_millis(300)
    });
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
