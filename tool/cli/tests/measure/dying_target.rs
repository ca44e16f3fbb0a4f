//! A server that dies half-way: exit 3, and what was measured until then is kept.

use std::thread::sleep;
use std::time::Duration;

use reprise_lab::{EmbeddedResumption, KeyKind};
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer};
use reprise_servers::{Relay, RelayFault, RelayRule};

use reprise_harness::{Lab, wait_until};

/// More connections than any test waits for.
const ENDLESS: u32 = 1_000_000;

#[test]
fn nginx_is_stopped_half_way() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let running = lab.measure(nginx.address()).count(ENDLESS).start();
    wait_until("some connections", || nginx.accounts().unwrap().len() > 20);
    drop(nginx);
    let outcome = running.finish().exits(3).says(&["connection refused"]).shows(&["Incomplete", "failed"]);
    let document = outcome.document();
    assert!(document.interrupted && document.samples.len() >= 10, "{} samples", document.samples.len());
    let run = document.run(Version::Tls13, Kind::Full).unwrap();
    assert!(run.n > 0 && run.phases[&Phase::Tls].median_ns > 0);
}

#[test]
fn a_restart_ends_nothing() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let address = server.address();
    let running = lab.measure(address).args(["--tls", "1.3"]).count(ENDLESS).start();
    wait_until("some connections", || server.completed() > 20);
    drop(server);
    // Until the failures are many.
    sleep(Duration::from_millis(300));
    let again = lab.server_with(|config| (config.resumption, config.listen) = (EmbeddedResumption::Ticket, address));
    wait_until("more connections", || again.completed() > 20);
    running.interrupt();
    let document = running.finish().exits(130).document();
    assert!((5..20).contains(&document.all_connections.failed), "{:?}", document.all_connections);
}

/// Each record in turn, once the server has been found good and measured once; all at once, since each waits for a restart that does
/// not come. Silence, ends and resets in the place of any message are `workshop/scripted/src/hostile`'s.
#[test]
fn a_flipped_bit_anywhere_is_a_failure() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    for (tls, discovery) in [(Version::Tls12, 2), (Version::Tls13, 1)] {
        let measure = |relay: &Relay| lab.measure(relay.address()).args(["--tls", tls.number(), "--kinds", "full"]).count(8);
        let relay = Relay::transparent(server.address()).unwrap();
        measure(&relay).run().exits(0);
        let start = |record| {
            let rule = RelayRule { skip_connections: discovery + 1, record, fault: RelayFault::Flip(16) };
            let relay = Relay::start(server.address(), rule).unwrap();
            let running = measure(&relay).start();
            (relay, running)
        };
        let started: Vec<_> = (0..relay.records().last().unwrap().len()).map(start).collect();
        for (record, (_relay, running)) in started.into_iter().enumerate() {
            let outcome = running.finish().exits(3);
            let document = outcome.document();
            let failed = document.all_connections.failed;
            // Five in a row, and a sixth when a restart would be over; where five take as long, on a busy machine, there is no sixth.
            let counts = (document.samples.len(), document.runs[0].n, document.runs[0].failed);
            assert!(counts == (1, 1, failed) && (5..=6).contains(&failed), "{tls} {record}: {counts:?}, {failed} failed");
            assert!(document.interrupted && !document.failures.is_empty(), "{tls} {record}");
            outcome.shows(&[&format!("{failed} of {}", failed + 1), "Incomplete"]);
        }
    }
}

#[test]
fn a_few_failures_are_told_and_end_nothing() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let closing = |skip_connections| {
        Relay::start(server.address(), RelayRule { skip_connections, record: 0, fault: RelayFault::Close }).unwrap()
    };
    let relay = closing(4);
    let outcome = lab.measure(relay.address()).args(["--tls", "1.3", "--kinds", "full"]).count(5).run();
    // Named kinds must be observed in all of their samples.
    let outcome = outcome.exits(1).says(&["full under TLS 1.3 was observed in 3 of 5 connections"]).shows(&["2 of 5"]);
    let document = outcome.document();
    assert_eq!((document.samples.len(), document.all_connections.failed, document.interrupted), (3, 2, false));
    // One that dies before five failures is no success either.
    let relay = closing(1);
    let outcome = lab.measure(relay.address()).args(["--tls", "1.3"]).count(2).run().exits(3);
    let document = outcome.says(&["closed the connection"]).document();
    assert_eq!((document.runs[0].n, document.runs[0].failed, document.interrupted), (0, 2, false), "nothing was left out");
}
