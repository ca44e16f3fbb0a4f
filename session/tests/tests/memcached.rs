//! A second kind of store, which is `session/tests/src/memcached_store.rs` alone: what `store::remote` promises of every store holds of it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use reprise_model::Kind;
use reprise_servers::require;
use reprise_session_tests::client::{FULL, visit};
use reprise_session_tests::memcached::MemcachedServer;
use reprise_session_tests::until;
use reprise_session_tests::world::World;

const NODE: &str = env!("CARGO_BIN_EXE_session-node");

#[test]
fn of_three_nodes_one_resumes_what_is_in_memcached() {
    require!("memcached");
    let server = MemcachedServer::start();
    let world = World::new(NODE, &[&server.setting()]);
    let kinds = || {
        let first = visit(world.nodes[0].address, &world.client, FULL, "/").unwrap();
        let nodes = [&world.nodes[1], &world.nodes[2], &world.nodes[1]];
        nodes.map(|node| visit(node.address, &world.client, first.offer(), "/").unwrap().kind)
    };
    // A busy machine may keep a write or a node beyond its budget.
    until("the first of them resumes", || {
        let kinds = kinds();
        assert!(kinds.iter().filter(|&&kind| kind == Kind::Ticket).count() <= 1, "{kinds:?}");
        kinds[0] == Kind::Ticket
    });
    world.nothing_failed();
}

#[test]
fn outages_of_memcached_cost_full_handshakes() {
    require!("memcached");
    let mut server = MemcachedServer::start();
    let world = World::new(NODE, &[&server.setting()]);
    let before = world.sessions();
    server.kill();
    assert_eq!(world.resumed(&before), 0, "killed");
    assert_eq!(world.resumed(&world.sessions()), 0, "killed");
    server.start_again();
    world.recovers();
    let before = world.sessions();
    server.pause();
    assert_eq!(world.resumed(&before), 0, "stopped");
    server.go_on();
    world.recovers();
    world.nothing_failed();
}
