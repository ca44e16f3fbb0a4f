//! An outage costs speed, not safety or service (rule 10): with a store that fails in every way no handshake fails, none
//! waits beyond the budget, nothing resumes that should not, and everything recovers by itself.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reprise_engine::Config;
use reprise_lab::require;
use reprise_lab::servers::find;
use reprise_session_tests::client::{FULL, visit};
use reprise_session_tests::fleet::{Fleet, Node};
use reprise_session_tests::proxy::{Network, Proxy};
use reprise_session_tests::require_store;
use reprise_session_tests::store::Store;
use reprise_trace::{Kind, Version};

const NODE: &str = env!("CARGO_BIN_EXE_session-node");
/// How long recovery may take: pauses between attempts are at most a second.
const SOON: Duration = Duration::from_secs(30);
/// A budget of 20 ms, and what a machine that is busy with other tests may add to a timer. Without a bound of its own the
/// client library waits 760 ms for a store that was killed, and for one that is stopped as long as it is stopped.
const BUDGET: &str = "budget=20";
const LONGEST_WAIT: f64 = 0.7;

struct World {
    fleet: Fleet,
    nodes: Vec<Node>,
    client: Arc<Config>,
}

impl World {
    fn new(settings: &[&str]) -> Self {
        let fleet = Fleet::new(NODE, settings);
        let nodes = fleet.five(&["means=store", BUDGET]);
        let client = fleet.client(Version::Tls13, None);
        let world = Self { fleet, nodes, client };
        world.recovers();
        world
    }

    /// Sessions of each node at the next, written before. How many of five resumed; none may fail.
    fn resumed(&self) -> usize {
        let made: Vec<_> = self.nodes.iter().map(|node| visit(node.address, &self.client, FULL, "/").unwrap()).collect();
        std::thread::sleep(Duration::from_millis(50));
        let offer = |(index, made): (usize, &reprise_session_tests::client::Visit)| {
            if made.sessions.is_empty() {
                return Kind::Full;
            }
            let other = &self.nodes[(index + 1) % self.nodes.len()];
            visit(other.address, &self.client, made.offer(), "/").unwrap().kind
        };
        made.iter().enumerate().map(offer).filter(|&kind| kind == Kind::Ticket).count()
    }

    fn recovers(&self) {
        let end = Instant::now() + SOON;
        while self.resumed() < self.nodes.len() {
            assert!(Instant::now() < end, "it does not recover");
        }
    }

    /// By the nodes' own account.
    fn nothing_failed(&self) {
        for node in &self.nodes {
            assert_eq!(self.fleet.ask(node, "/failed"), "0");
            let longest = self.fleet.metric(node, "reprise_session_store_longest_wait_seconds");
            assert!(longest < LONGEST_WAIT, "waited {longest} s");
        }
    }
}

#[test]
fn a_killed_store_costs_full_handshakes() {
    require_store!();
    let mut store = Store::start(&[]);
    let world = World::new(&[&format!("store={}", store.url())]);
    store.kill();
    assert_eq!((world.resumed(), world.resumed()), (0, 0));
    // Restarted, and empty.
    store.start_again();
    world.recovers();
    world.nothing_failed();
}

#[test]
fn a_stopped_store_costs_full_handshakes() {
    require_store!();
    let store = Store::start(&[]);
    let world = World::new(&[&format!("store={}", store.url())]);
    store.pause();
    assert_eq!((world.resumed(), world.resumed()), (0, 0));
    store.go_on();
    world.recovers();
    world.nothing_failed();
}

#[test]
fn a_slow_or_cut_network_costs_full_handshakes() {
    require_store!();
    let store = Store::start(&[]);
    let proxy = Proxy::before(store.address());
    let world = World::new(&[&format!("store={}", proxy.url())]);
    for network in [Network::Slow, Network::Cut] {
        proxy.set(network);
        assert_eq!((world.resumed(), world.resumed()), (0, 0), "{network:?}");
        proxy.set(Network::Fine);
        world.recovers();
    }
    world.nothing_failed();
}

#[test]
fn a_full_store_costs_full_handshakes() {
    require_store!();
    let store = Store::start(&["--maxmemory-policy", "noeviction"]);
    let world = World::new(&[&format!("store={}", store.url())]);
    store.ask("CONFIG SET maxmemory 1");
    assert_eq!(world.resumed(), 0);
    store.ask("CONFIG SET maxmemory 0");
    world.recovers();
    world.nothing_failed();
}

#[test]
fn a_flushed_store_gets_the_ring_again() {
    require_store!();
    let store = Store::start(&[]);
    let world = World::new(&[&format!("store={}", store.url())]);
    let lost = visit(world.nodes[0].address, &world.client, FULL, "/").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    store.ask("FLUSHALL");
    assert_eq!(visit(world.nodes[1].address, &world.client, lost.offer(), "/").unwrap().kind, Kind::Full);
    world.recovers();
    let end = Instant::now() + SOON;
    while store.ask("EXISTS reprise:ring") != ":1\r\n" {
        assert!(Instant::now() < end);
    }
    // A node that starts now has the same ring.
    let new = world.fleet.node(&["means=store", BUDGET]);
    let first = visit(world.nodes[0].address, &world.client, FULL, "/").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(visit(new.address, &world.client, first.offer(), "/").unwrap().kind, Kind::Ticket);
    world.nothing_failed();
}

#[test]
fn a_store_that_is_not_there_at_the_start_is_used_later() {
    require_store!();
    let mut store = Store::start(&[]);
    store.kill();
    let fleet = Fleet::new(NODE, &[&format!("store={}", store.url())]);
    let nodes = fleet.five(&["means=store", BUDGET]);
    let client = fleet.client(Version::Tls13, None);
    let world = World { fleet, nodes, client };
    assert_eq!(world.resumed(), 0);
    store.start_again();
    world.recovers();
    world.nothing_failed();
}

#[test]
fn an_altered_entry_or_ring_is_refused() {
    require_store!();
    let store = Store::start(&[]);
    let world = World::new(&[&format!("store={}", store.url())]);
    let first = visit(world.nodes[0].address, &world.client, FULL, "/").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    // Every value gets a byte more, the ring included.
    store.ask("EVAL \"for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('APPEND', key, 'x') end\" 0");
    assert_eq!(visit(world.nodes[1].address, &world.client, first.offer(), "/").unwrap().kind, Kind::Full);
    assert_eq!(world.fleet.metric(&world.nodes[1], "reprise_session_not_resumed_total{reason=\"altered\"}"), 1.0);
    // Nodes go on with the ring that they have.
    assert_eq!(world.resumed(), 5);
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
            let client = fleet.client(Version::Tls13, None);
            for (from, to) in [(&right, &wrong), (&wrong, &right)] {
                let first = visit(from.address, &client, FULL, "/").unwrap();
                std::thread::sleep(Duration::from_millis(50));
                // A node whose clock is an hour off may have no key that it may use, and then gives no session at all.
                if !first.sessions.is_empty() {
                    let kind = visit(to.address, &client, first.offer(), "/").unwrap().kind;
                    assert_eq!(kind, Kind::Full, "{skew} {means}");
                }
            }
            // The others are not disturbed.
            let third = fleet.node(&[]);
            let first = visit(right.address, &client, FULL, "/").unwrap();
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(visit(third.address, &client, first.offer(), "/").unwrap().kind, Kind::Ticket, "{skew} {means}");
            for node in [&right, &wrong, &third] {
                assert_eq!(fleet.ask(node, "/failed"), "0");
            }
        }
    }
}

#[test]
fn a_failover_costs_full_handshakes() {
    require_store!();
    let Some(program) = ["valkey-sentinel", "redis-sentinel"].into_iter().find(|program| find(program).is_some()) else {
        require!("redis-sentinel");
        return;
    };
    let mut master = Store::start(&[]);
    let replica = Store::start(&["--replicaof", "127.0.0.1", &master.address().port().to_string()]);
    let sentinel = Sentinel::start(program, &master);
    let until = |holds: &dyn Fn() -> bool| {
        let end = Instant::now() + SOON;
        while !holds() {
            assert!(Instant::now() < end);
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    until(&|| replica.ask("INFO replication").contains("master_link_status:up"));
    until(&|| master.ask("INFO replication").contains("connected_slaves:1"));
    // The sentinel learns of replicas from the master, every ten seconds.
    std::thread::sleep(Duration::from_secs(11));
    let world = World::new(&[&format!("store=redis://127.0.0.1:{}", sentinel.port), "topology=sentinel"]);
    master.kill();
    assert_eq!(world.resumed(), 0);
    until(&|| replica.ask("ROLE").contains("master"));
    world.recovers();
    world.nothing_failed();
}

struct Sentinel {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Sentinel {
    fn start(program: &str, master: &Store) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sentinel.conf");
        let configuration = format!(
            "port {port}\nbind 127.0.0.1\ndir {}\nsentinel monitor sessions 127.0.0.1 {} 1\n\
             sentinel down-after-milliseconds sessions 500\nsentinel failover-timeout sessions 5000\n",
            folder.path().display(),
            master.address().port()
        );
        std::fs::write(&path, configuration).unwrap();
        let mut command = Command::new(find(program).unwrap());
        let child = command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, port, _folder: folder }
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
