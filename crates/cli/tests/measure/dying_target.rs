//! A server that dies half-way: exit 3, and what was measured until then is kept.

use std::thread::sleep;
use std::time::Duration;

use reprise_lab::{KeyKind, Resumption};
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer};
use reprise_servers::{Relay, RelayFault, RelayRule};

use reprise_harness::{Lab, Outcome, wait_until};

/// More connections than any test waits for.
const ENDLESS: u32 = 1_000_000;

#[track_caller]
fn assert_kept(outcome: &Outcome, at_least: usize) {
    let document = outcome.document();
    assert!(document.interrupted);
    assert!(document.samples.len() >= at_least, "{} samples", document.samples.len());
    let run = document.run(Version::Tls13, Kind::Full).unwrap();
    assert!(run.n > 0 && run.phases[&Phase::Tls].median_ns > 0);
}

#[test]
fn nginx_is_stopped_half_way() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let running = lab.measure(nginx.address()).count(ENDLESS).start();
    wait_until("some connections", || nginx.accounts().unwrap().len() > 20);
    drop(nginx);
    let outcome = running.finish().exits(3).says(&["connection refused"]);
    assert_kept(&outcome, 10);
    outcome.shows(&["Incomplete", "failed"]);
}

#[test]
fn an_embedded_server_is_dropped_half_way() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let running = lab.measure(server.address()).count(ENDLESS).start();
    wait_until("some connections", || server.completed() > 20);
    drop(server);
    assert_kept(&running.finish().exits(3), 10);
}

#[test]
fn a_restart_ends_nothing() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let address = server.address();
    let running = lab.measure(address).args(["--tls", "1.3"]).count(ENDLESS).start();
    wait_until("some connections", || server.completed() > 20);
    drop(server);
    // Until the failures are many.
    sleep(Duration::from_millis(300));
    let again = lab.server_with(|config| (config.resumption, config.listen) = (Resumption::Ticket, address));
    wait_until("more connections", || again.completed() > 20);
    running.interrupt();
    let document = running.finish().exits(130).document();
    assert!((5..20).contains(&document.all_connections.failed), "{:?}", document.all_connections);
}

#[test]
fn a_few_failures_are_told_and_end_nothing() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Off);
    let relay =
        Relay::start(server.address(), RelayRule { skip_connections: 4, record: 0, fault: RelayFault::Close }).unwrap();
    let outcome = lab.measure(relay.address()).args(["--tls", "1.3", "--kinds", "full"]).count(5).run();
    // Named kinds must be observed in all of their samples (CONTRACT: exit codes).
    let outcome = outcome.exits(1).says(&["full under TLS 1.3 was observed in 3 of 5 connections"]);
    let document = outcome.document();
    assert_eq!((document.samples.len(), document.all_connections.failed, document.interrupted), (3, 2, false));
    outcome.shows(&["2 of 5"]);
}

#[test]
fn a_target_that_dies_before_five_failures_is_no_success() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Off);
    let relay =
        Relay::start(server.address(), RelayRule { skip_connections: 1, record: 0, fault: RelayFault::Close }).unwrap();
    let outcome = lab.measure(relay.address()).args(["--tls", "1.3"]).count(2).run().exits(3);
    let document = outcome.says(&["closed the connection"]).document();
    assert_eq!((document.runs[0].n, document.runs[0].failed, document.interrupted), (0, 2, false), "nothing was left out");
}
