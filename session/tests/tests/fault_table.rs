//! Every fault of a store while 64 clients come back at once: no handshake fails, and a table says what is lost and for how long.
//! `cargo test -p reprise-session-tests --features valkey --test fault_table -- --nocapture`

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test of its own")]

use std::thread;
use std::time::Duration;

use reprise_model::Version;
use reprise_session_tests::closed_loop::ClosedLoop;
use reprise_session_tests::fault::{FAULTS, Fault, Surroundings};
use reprise_session_tests::fleet::{Fleet, addresses};
use reprise_session_tests::require_store;
use reprise_session_tests::store::Store;

const NODE: &str = env!("CARGO_BIN_EXE_session-node");
const BEFORE: Duration = Duration::from_millis(1500);
const FAULT: Duration = Duration::from_millis(1500);
const AFTER: Duration = Duration::from_secs(4);
/// From here on a fleet is as it was: on a busy machine, some answers are late.
const RECOVERED: f64 = 0.95;

#[test]
fn no_fault_fails_a_handshake_and_all_pass() {
    require_store!();
    println!("| {:22} | resumed before | during | after | offered and lost | as before after |", "fault");
    println!("| {:22} | --: | --: | --: | --: | --: |", "---");
    for Fault { name, befall, heal, .. } in FAULTS {
        let mut surroundings = Surroundings::fine();
        let fleet = Fleet::new(NODE, &[&surroundings.setting(), "means=store"]);
        let nodes = fleet.five(&[]);
        let (mut begun, mut healed) = (Duration::ZERO, Duration::ZERO);
        let running = ClosedLoop::run(&fleet.client(Version::Tls13), &addresses(&nodes), |running| {
            thread::sleep(BEFORE);
            begun = running.now();
            befall(&mut surroundings);
            thread::sleep(FAULT);
            heal(&mut surroundings);
            healed = running.now();
            thread::sleep(AFTER);
        });
        let end = running.now();
        let recovered = running.recovered_after(healed, end, RECOVERED);
        let again = recovered.map_or(end, |after| healed + after);
        let lost = running.between(begun, again);
        println!(
            "| {name:22} | {:.1} % | {:.1} % | {:.1} % | {} | {} |",
            100.0 * running.between(Duration::ZERO, begun).share(),
            100.0 * running.between(begun, healed).share(),
            100.0 * running.between(again, end).share(),
            lost.offered - lost.resumed,
            recovered.map_or("not at all".to_owned(), |after| format!("{} ms", after.as_millis())),
        );
        assert_eq!(running.failures(), [""; 0], "{name}");
        assert!(nodes.iter().all(|node| fleet.ask(node, "/failed") == "0"), "{name}");
        let status = || nodes.iter().map(|node| fleet.ask(node, "/status")).collect::<Vec<_>>();
        assert!(recovered.is_some(), "{name}: {:#?}", status());
    }
}

#[test]
fn rotation_and_a_wrong_clock_fail_no_handshake() {
    require_store!();
    for (name, lifetime, skew, least) in [
        ("rotation every 3 s", "lifetime=3", None, 0.95),
        // What it issues is refused by the others, and the other way round: two of five visits.
        ("a clock an hour ahead", "lifetime=600", Some("skew=3600"), 0.55),
        // It has no key that it may use, so it issues nothing, and takes nothing.
        ("a clock an hour behind", "lifetime=600", Some("skew=-3600"), 0.7),
    ] {
        let store = Store::start(&[]);
        let fleet = Fleet::new(NODE, &[&format!("store={}", store.url()), "means=store", lifetime]);
        let mut nodes = fleet.five(&[]);
        if let Some(skew) = skew {
            nodes[2] = fleet.node(&[skew]);
        }
        let running =
            ClosedLoop::run(&fleet.client(Version::Tls13), &addresses(&nodes), |_| thread::sleep(Duration::from_secs(8)));
        let offered = running.between(Duration::from_secs(1), Duration::MAX);
        println!("{name}: {:.1} % of {} offered sessions resumed", 100.0 * offered.share(), offered.offered);
        assert_eq!(running.failures(), [""; 0], "{name}");
        assert!(offered.share() >= least, "{name}: {offered:?}");
    }
}
