//! Where a store can be: behind sentinels, in a cluster, behind TLS and a password.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reprise_engine::Session;
use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_model::Kind;
use reprise_servers::find;
use reprise_servers::require;
use reprise_session_tests::client::visit;
use reprise_session_tests::reserved_port::ReservedPort;
use reprise_session_tests::store::Store;
use reprise_session_tests::world::World;
use reprise_session_tests::{PATIENCE, require_store, until};

const NODE: &str = env!("CARGO_BIN_EXE_session-node");
/// With what early data would be accepted one second after the start, if it were at all.
const EARLY: [&str; 2] = ["early=1000", "window=1"];

/// Whether any node allows early data with a session that it has taken, as one server's nodes do; see `fleet`.
fn allows_early_data(world: &World) -> bool {
    let end = Instant::now() + PATIENCE;
    loop {
        let sessions = world.sessions();
        // They are written behind the handshake.
        std::thread::sleep(Duration::from_millis(50));
        let nodes = world.nodes.iter().cycle().skip(1);
        let offered = sessions.iter().zip(nodes).filter(|(session, _)| !session.sessions.is_empty());
        let visits = offered.map(|(session, node)| visit(node.address, &world.client, session.offer(), "/").unwrap());
        let resumed: Vec<_> = visits.filter(|visit| visit.kind == Kind::Ticket).collect();
        if !resumed.is_empty() {
            let allows = |session: &Session| matches!(session, Session::Tls13(ticket) if ticket.max_early_data.is_some());
            return resumed.iter().flat_map(|visit| &visit.sessions).any(allows);
        }
        assert!(Instant::now() < end, "no session resumes");
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
    until("the replica follows", || replica.ask("INFO replication").contains("master_link_status:up"));
    let sentinel = Sentinel::start(program, &master);
    until("the sentinel knows the replica", || sentinel.knows(&replica));
    let url = format!("store=redis://{}", sentinel.port.address());
    let world = World::new(NODE, &[&url, "topology=sentinel", EARLY[0], EARLY[1]]);
    let before = world.sessions();
    master.kill();
    // Full or not: by now the replica may have been promoted.
    world.resumed(&world.sessions());
    // The sentinel ends every connection to it as it is promoted, this one too.
    let is_master = || Store::ask_at(replica.address(), "ROLE").is_some_and(|role| role.contains("master"));
    until("the replica is promoted", is_master);
    world.recovers();
    // What was replicated in time is there; nothing fails either way.
    world.resumed(&before);
    world.nothing_failed();
}

#[test]
fn no_early_data_where_two_masters_may_be_asked() {
    require_store!();
    let Some(program) = ["valkey-sentinel", "redis-sentinel"].into_iter().find(|program| find(program).is_some()) else {
        require!("redis-sentinel");
        return;
    };
    // A sentinel that is cut off from the master promotes a replica, while some nodes still ask the master: a session that both
    // have would be taken twice. So no node may allow early data, long after the window is over.
    let master = Store::start(&[]);
    let sentinel = Sentinel::start(program, &master);
    let url = format!("store=redis://{}", sentinel.port.address());
    let world = World::new(NODE, &[&url, "topology=sentinel", EARLY[0], EARLY[1]]);
    std::thread::sleep(Duration::from_secs(2));
    assert!(!allows_early_data(&world));
    // One server: they do, by the same account.
    let one = Store::start(&[]);
    let world = World::new(NODE, &[&format!("store={}", one.url()), EARLY[0], EARLY[1]]);
    until("early data is allowed", || allows_early_data(&world));
}

#[test]
fn a_cluster_serves_every_node_and_no_early_data() {
    require_store!();
    let stores: Vec<(Store, ReservedPort)> = (0..3).map(|_| cluster_member()).collect();
    for (index, (store, _)) in stores.iter().enumerate() {
        let slots = [(0, 5460), (5461, 10_922), (10_923, 16_383)][index];
        assert_eq!(store.ask(&format!("CLUSTER ADDSLOTSRANGE {} {}", slots.0, slots.1)), "+OK\r\n");
        for (other, bus) in &stores[..index] {
            let meet = format!("CLUSTER MEET 127.0.0.1 {} {}", other.address().port(), bus.number());
            assert_eq!(store.ask(&meet), "+OK\r\n");
        }
    }
    until("the cluster is whole", || {
        let is_whole = |info: &str| info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3");
        stores.iter().all(|(store, _)| is_whole(&store.ask("CLUSTER INFO")))
    });
    let url = format!("store={}", stores[0].0.url());
    let world = World::new(NODE, &[&url, "topology=cluster", EARLY[0], EARLY[1]]);
    // Not all in one place.
    let used = stores.iter().filter(|(store, _)| store.ask("DBSIZE") != ":0\r\n").count();
    assert!(used >= 2, "{used} of 3 members hold sessions");
    std::thread::sleep(Duration::from_secs(2));
    assert!(!allows_early_data(&world));
    world.nothing_failed();
}

fn cluster_member() -> (Store, ReservedPort) {
    let bus = ReservedPort::new();
    let store = Store::start(&["--cluster-enabled", "yes", "--cluster-port", &bus.number().to_string()]);
    (store, bus)
}

#[test]
fn tls_and_a_password_are_needed_where_the_store_has_them() {
    require_store!();
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new().unwrap();
    let files = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap().write_pem(folder.path(), "store").unwrap();
    let [ca, other] = ["ca.pem", "other.pem"].map(|name| folder.path().join(name));
    std::fs::write(&ca, authority.pem()).unwrap();
    std::fs::write(&other, Authority::new().unwrap().pem()).unwrap();
    let reserved = ReservedPort::new();
    let port = reserved.number();
    let [certificate, key] = [&files.certificate, &files.key].map(|path| path.display().to_string());
    let tls = ["--tls-port", &port.to_string(), "--tls-cert-file", &certificate, "--tls-key-file", &key];
    let _store = Store::start(&[&tls[..], &["--tls-auth-clients", "no", "--requirepass", "a-password"]].concat());
    let url = |password: &str| format!("store=rediss://:{password}@localhost:{port}");
    let trust = |ca: &std::path::Path| format!("store-ca={}", ca.display());
    let world = World::new(NODE, &[&url("a-password"), &trust(&ca)]);
    world.nothing_failed();
    // Otherwise the store is as good as away for nodes that do not wait for it at the start: to others a wrong password is an error.
    for (url, ca) in [(url("another"), &ca), (url("a-password"), &other)] {
        let world = World::start(NODE, &[&url, &trust(ca), "start=0"]);
        assert_eq!(world.resumed(&world.sessions()), 0, "{url}");
        world.nothing_failed();
    }
}

struct Sentinel {
    child: Child,
    port: ReservedPort,
    _folder: tempfile::TempDir,
}

impl Sentinel {
    fn start(program: &str, master: &Store) -> Self {
        let port = ReservedPort::new();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sentinel.conf");
        let configuration = format!(
            "port {}\nbind 127.0.0.1\ndir {}\nsentinel monitor sessions 127.0.0.1 {} 1\n\
             sentinel down-after-milliseconds sessions 500\nsentinel failover-timeout sessions 5000\n",
            port.number(),
            folder.path().display(),
            master.address().port()
        );
        std::fs::write(&path, configuration).unwrap();
        let mut command = Command::new(find(program).unwrap());
        let child = command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, port, _folder: folder }
    }

    /// It learns of replicas from the master, now and then.
    fn knows(&self, replica: &Store) -> bool {
        let replicas = Store::ask_at(self.port.address(), "SENTINEL REPLICAS sessions").unwrap_or_default();
        replicas.contains(&format!("127.0.0.1:{}", replica.address().port()))
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
