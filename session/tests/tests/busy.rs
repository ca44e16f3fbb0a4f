//! A node that is busy does not blame its store: 64 clients in a closed loop, on whatever cores there are, and a healthy store.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test of its own")]

use std::thread;
use std::time::Duration;

use reprise_model::Version;
use reprise_session_tests::closed_loop::ClosedLoop;
use reprise_session_tests::fleet::{Fleet, addresses};
use reprise_session_tests::require_store;
use reprise_session_tests::store::Store;

const NODE: &str = env!("CARGO_BIN_EXE_session-node");
const WARM_UP: Duration = Duration::from_secs(1);

#[test]
fn a_busy_node_resumes_what_its_store_has() {
    require_store!();
    for version in [Version::Tls12, Version::Tls13] {
        let store = Store::start(&[]);
        // The default budget.
        let fleet = Fleet::new(NODE, &[&format!("store={}", store.url()), "means=store"]);
        let nodes = fleet.five(&[]);
        let running = ClosedLoop::run(&fleet.client(version), &addresses(&nodes), |_| thread::sleep(Duration::from_secs(5)));
        let offered = running.between(WARM_UP, Duration::MAX);
        println!("{version:?}: {:.2} % of {} offered sessions resumed", 100.0 * offered.share(), offered.offered);
        assert_eq!(running.failures(), [""; 0]);
        // In release builds on a machine of two cores that has nothing else to do it is more than 99 %.
        assert!(offered.share() >= 0.95, "{version:?}: {offered:?}");
        for node in &nodes {
            assert_eq!(fleet.metric(node, "reprise_session_store_paused"), 0.0);
            assert_eq!(fleet.metric(node, "reprise_session_store_retries_total"), 0.0);
        }
    }
}

#[test]
fn after_a_burst_all_is_as_before_within_a_second() {
    require_store!();
    for version in [Version::Tls12, Version::Tls13] {
        let store = Store::start(&[]);
        let fleet = Fleet::new(NODE, &[&format!("store={}", store.url()), "means=store"]);
        let nodes = fleet.five(&[]);
        let mut burst_ended = Duration::ZERO;
        let running = ClosedLoop::run(&fleet.client(version), &addresses(&nodes), |running| {
            thread::sleep(Duration::from_secs(3));
            running.set_active(4);
            burst_ended = running.now();
            thread::sleep(Duration::from_secs(3));
        });
        assert_eq!(running.failures(), [""; 0]);
        let end = running.now();
        let recovered = running.recovered_after(burst_ended, end, 0.95).expect("it does not recover");
        println!("{version:?}: all resume {recovered:?} after the burst");
        // What follows is a machine that has little to do.
        let after = running.between(burst_ended + Duration::from_secs(1), end);
        assert!(after.offered > 0 && after.share() >= 0.95, "{version:?}: {after:?}");
    }
}
