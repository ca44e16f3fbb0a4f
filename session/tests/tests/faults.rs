//! An outage costs speed, not safety or service (rule 10): with a store that fails in every way no handshake fails, none
//! waits for it, nothing resumes that should not, and everything recovers by itself.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use reprise_model::{Kind, Version};
use reprise_session_tests::client::{FULL, visit};
use reprise_session_tests::fault::{FAULTS, Fault, Surroundings};
use reprise_session_tests::fleet::{Fleet, Node};
use reprise_session_tests::proxy::Proxy;
use reprise_session_tests::store::Store;
use reprise_session_tests::world::World;
use reprise_session_tests::{require_store, until};

const NODE: &str = env!("CARGO_BIN_EXE_session-node");

#[test]
fn every_fault_costs_full_handshakes() {
    require_store!();
    for Fault { name, befall, heal, reads, writes } in FAULTS {
        let mut surroundings = Surroundings::fine();
        let world = World::new(NODE, &[&surroundings.setting()]);
        let before = world.sessions();
        befall(&mut surroundings);
        if !reads {
            assert_eq!(world.resumed(&before), 0, "{name}");
        }
        if !writes {
            assert_eq!(world.resumed(&world.sessions()), 0, "{name}");
        }
        heal(&mut surroundings);
        world.recovers();
        world.nothing_failed();
    }
}

#[test]
fn a_store_that_is_not_there_at_the_start_is_used_later() {
    require_store!();
    let mut store = Store::start(&[]);
    store.kill();
    let world = World::start(NODE, &[&format!("store={}", store.url())]);
    assert_eq!(world.resumed(&world.sessions()), 0);
    store.start_again();
    world.recovers();
    world.nothing_failed();
}

#[test]
fn an_altered_entry_or_ring_is_refused() {
    require_store!();
    let store = Store::start(&[]);
    let world = World::new(NODE, &[&format!("store={}", store.url())]);
    let why = "reprise_session_not_resumed_total{reason=\"altered\"}";
    // A busy machine may keep a node waiting beyond its budget: then it never saw what was altered.
    until("a node sees what was altered", || {
        let first = visit(world.nodes[0].address, &world.client, FULL, "/").unwrap();
        store.wait_for(&first);
        // Every value gets a byte more, the ring included.
        store.ask("EVAL \"for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('APPEND', key, 'x') end\" 0");
        assert_eq!(visit(world.nodes[1].address, &world.client, first.offer(), "/").unwrap().kind, Kind::Full);
        world.fleet.metric(&world.nodes[1], why) >= 1.0
    });
    // Nodes go on with the ring that they have.
    world.recovers();
    world.nothing_failed();
}

#[test]
fn a_clock_that_is_an_hour_wrong_costs_full_handshakes() {
    require_store!();
    for skew in ["skew=3600", "skew=-3600"] {
        for means in ["means=store", "means=tickets"] {
            let store = Store::start(&[]);
            let fleet = Fleet::new(NODE, &[&format!("store={}", store.url()), means, "lifetime=600", "budget=2000"]);
            let [right, wrong] = [fleet.node(&[]), fleet.node(&[skew])];
            let client = fleet.client(Version::Tls13);
            let settle = |session: &_| {
                if means == "means=store" {
                    store.wait_for(session);
                }
            };
            for (from, to) in [(&right, &wrong), (&wrong, &right)] {
                let first = visit(from.address, &client, FULL, "/").unwrap();
                // A node that is behind has no key that it may use, and then gives no session at all.
                if !first.sessions.is_empty() {
                    settle(&first);
                    let kind = visit(to.address, &client, first.offer(), "/").unwrap().kind;
                    assert_eq!(kind, Kind::Full, "{skew} {means}");
                }
            }
            // The others are not disturbed.
            let third = fleet.node(&[]);
            until("the others resume", || {
                let first = visit(right.address, &client, FULL, "/").unwrap();
                settle(&first);
                visit(third.address, &client, first.offer(), "/").unwrap().kind == Kind::Ticket
            });
            for node in [&right, &wrong, &third] {
                assert_eq!(fleet.ask(node, "/failed"), "0");
            }
        }
    }
}

#[test]
fn a_store_whose_clock_leaps_keeps_every_session() {
    require_store!();
    for means in ["means=tickets", "means=store"] {
        let store = Store::start(&[]);
        let proxy = Proxy::before(store.address());
        let fleet = Fleet::new(NODE, &[&format!("store={}", proxy.url()), means, "lifetime=600", "budget=2000"]);
        let mut nodes = fleet.five(&[]);
        let client = fleet.client(Version::Tls13);
        let session = |node: &Node| {
            let made = visit(node.address, &client, FULL, "/").unwrap();
            assert!(!made.sessions.is_empty(), "there is a key to give sessions under");
            if means == "means=store" {
                store.wait_for(&made);
            }
            made
        };
        // An hour, a day and a year ahead, and back again each time.
        for ahead in [3600, 0, 86_400, 0, 31_536_000, 0] {
            let before = session(&nodes[0]);
            proxy.set_clock_ahead(ahead);
            let looks = proxy.asked_for_time() + 3 * nodes.len() as u64;
            until("the nodes have looked at the clock", || proxy.asked_for_time() >= looks);
            // One that starts now finds the same ring.
            nodes[4] = fleet.node(&[]);
            for made in [before, session(&nodes[1]), session(&nodes[4])] {
                let kind = visit(nodes[2].address, &client, made.offer(), "/").unwrap().kind;
                assert_eq!(kind, Kind::Ticket, "{ahead} s, {means}");
            }
        }
        assert!(nodes.iter().all(|node| fleet.ask(node, "/failed") == "0"));
    }
}

/// Every node makes the keys that all others make, for as long as the store is away.
#[test]
fn tickets_outlive_the_store() {
    require_store!();
    const PERIOD: u64 = 3;
    let mut store = Store::start(&[]);
    let settings =
        [&format!("store={}", store.url()), "means=tickets", "lifetime=2", "refresh=100", &format!("period={PERIOD}")];
    let fleet = Fleet::new(NODE, &settings.map(|it| it as &str));
    let [one, other] = [fleet.node(&[]), fleet.node(&[])];
    let client = fleet.client(Version::Tls13);
    let version = |node: &Node| fleet.metric(node, "reprise_session_ring_version");
    until("both have the store's ring", || version(&one) >= 1.0 && version(&one) == version(&other));
    store.kill();
    let before = version(&one);
    until("three more keys were made", || version(&one) >= before + 3.0);
    let shares = || {
        let first = visit(one.address, &client, FULL, "/").unwrap();
        visit(other.address, &client, first.offer(), "/").unwrap().kind == Kind::Ticket
    };
    until("the other resumes what one gave", shares);
    // The store is back without the ring, and has it again; a third node joins.
    store.start_again();
    until("the ring is there", || store.ask("KEYS reprise:ring:*").starts_with("*1\r\n"));
    let new = fleet.node(&[]);
    until("a new node resumes what one gave", || {
        let first = visit(one.address, &client, FULL, "/").unwrap();
        visit(new.address, &client, first.offer(), "/").unwrap().kind == Kind::Ticket
    });
    assert_eq!(fleet.ask(&one, "/failed"), "0");
}

#[test]
fn a_node_with_another_key_harms_itself_alone_and_says_so() {
    require_store!();
    let store = Store::start(&[]);
    let fleet = Fleet::new(NODE, &[&format!("store={}", store.url()), "means=tickets", "refresh=100"]);
    let mut key = [0; 32];
    key.iter_mut().zip(0..).for_each(|(byte, at)| *byte = at);
    let path = fleet.file("other.key", key);
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let [one, other] = [fleet.node(&[]), fleet.node(&[])];
    let wrong = fleet.node(&[&format!("ring-key={}", path.display())]);
    let client = fleet.client(Version::Tls13);
    let kind = |from: &Node, to: &Node| {
        let first = visit(from.address, &client, FULL, "/").unwrap();
        visit(to.address, &client, first.offer(), "/").unwrap().kind
    };
    until("the others share", || kind(&one, &other) == Kind::Ticket);
    assert_eq!((kind(&wrong, &wrong), kind(&wrong, &one), kind(&one, &wrong)), (Kind::Ticket, Kind::Full, Kind::Full));
    // Whoever published last, the other side sees it.
    let says_so = |node: &Node| fleet.ask(node, "/status").contains("other nodes have another key-encryption key");
    until("it is said", || says_so(&wrong) || says_so(&one));
    // A new ring changes nothing for the others.
    store.ask("FLUSHALL");
    until("the others share again", || {
        store.ask("KEYS reprise:ring:*").starts_with("*2\r\n") && kind(&one, &other) == Kind::Ticket
    });
    assert_eq!(kind(&other, &wrong), Kind::Full);
}
