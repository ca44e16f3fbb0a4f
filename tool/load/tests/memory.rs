//! What a load takes of our memory: few allocations for a handshake in steady state, and little for a connection.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test's own functions")]

use std::alloc::System;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_load::{Arrival, LoadEnd, LoadObserver, LoadOptions, LoadOutcome, NoLoadObserver, TlsOptions, run};
use reprise_model::{Kind, Nanos, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer, SessionCache};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// For one handshake, which the server's tickets and a session that is offered are part of.
const MOST_ALLOCATIONS: i64 = 45;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 16_384;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The argument by which this program runs itself again, in a network of its own.
const AGAIN: &str = "ten-thousand";

fn main() {
    reprise_servers::require!("nginx");
    let mut nginx = nginx();
    if std::env::args().any(|argument| argument == AGAIN) {
        return ten_thousand_connections_take_8_kib_each(&nginx);
    }
    for (version, kind) in [
        (Version::Tls13, Kind::Full),
        (Version::Tls13, Kind::Ticket),
        (Version::Tls12, Kind::Full),
        (Version::Tls12, Kind::Id),
        (Version::Tls12, Kind::Ticket),
    ] {
        a_handshake_allocates_little(&mut nginx, version, kind);
    }
    drop(nginx);
    // Ten thousand at once are more than an ordinary network lets wait to be accepted, whatever nginx asks for.
    let Some(mut network) = reprise_servers::own_network() else { return };
    let script = r#"ulimit -n "$(ulimit -Hn)"; echo "$2" > /proc/sys/net/core/somaxconn && exec "$1" "$3""#;
    let program = std::env::current_exe().unwrap();
    let again = network.args(["bash", "-c", script, "bash"]).arg(program).args([&BACKLOG.to_string(), AGAIN]).status();
    assert!(again.unwrap().success());
}

fn nginx() -> Nginx {
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    Nginx::start(NginxConfig {
        session_cache: SessionCache::Shared("5m".to_owned()),
        worker_connections: 12_000,
        backlog: Some(BACKLOG),
        http_directives: "client_header_timeout 100s; reset_timedout_connection on;".to_owned(),
        ..NginxConfig::new(vec![identity])
    })
    .unwrap()
}

fn options(address: SocketAddr, version: Version, kind: Kind, count: u64) -> LoadOptions {
    LoadOptions {
        tls: Arc::new(TlsOptions::new(version)),
        mix: vec![(kind, 1)],
        end: LoadEnd::Count(count),
        arrival: Arrival::Closed { connections: 16 },
        sessions: 16,
        ..LoadOptions::new(address, b"GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec())
    }
}

/// What does not depend on how many connections are made cancels out between two runs of different length.
fn a_handshake_allocates_little(nginx: &mut Nginx, version: Version, kind: Kind) {
    let allocations = |count| {
        let before = ALLOCATOR.stats();
        let outcome = run(&options(nginx.address(), version, kind, count), &|| false, &NoLoadObserver).unwrap();
        assert_eq!(outcome.errors(), Default::default());
        assert!(completed(&outcome) == count, "{kind}");
        let after = ALLOCATOR.stats();
        (after.allocations + after.reallocations) as i64 - (before.allocations + before.reallocations) as i64
    };
    let (few, many) = (allocations(400), allocations(2400));
    assert!(
        many - few < MOST_ALLOCATIONS * 2000,
        "{version} {kind}: {few} allocations for 400 connections, {many} for 2400"
    );
    println!("{version} {kind}: {few} allocations for 400 connections, {many} for 2400");
}

/// The most memory that was in use while a load ran.
struct Peak(AtomicUsize);

impl LoadObserver for Peak {
    fn proceeded(&self, _elapsed: Nanos, _completed: u64, _failed: u64) {
        self.0.fetch_max(in_use(), Ordering::Relaxed);
    }
}

fn ten_thousand_connections_take_8_kib_each(nginx: &Nginx) {
    const CONNECTIONS: usize = 10_000;
    let before = in_use();
    let peak = Peak(AtomicUsize::new(0));
    let options = LoadOptions {
        arrival: Arrival::Closed { connections: CONNECTIONS },
        end: LoadEnd::Count(2 * CONNECTIONS as u64),
        // All wait for one worker: whoever is last, waits long.
        timeout: Duration::from_secs(120),
        ..options(nginx.address(), Version::Tls13, Kind::Full, 0)
    };
    let outcome = run(&options, &|| false, &peak).unwrap();
    assert_eq!(outcome.errors(), Default::default());
    assert_eq!(completed(&outcome), 2 * CONNECTIONS as u64);
    let each = (peak.0.load(Ordering::Relaxed) - before) / CONNECTIONS;
    assert!(each <= 8 * 1024, "{each} bytes for each connection");
    println!("{each} bytes for each of {CONNECTIONS} connections");
}

fn in_use() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

fn completed(outcome: &LoadOutcome) -> u64 {
    Kind::ALL.into_iter().map(|kind| outcome.completed(kind)).sum()
}
