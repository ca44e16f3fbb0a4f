//! Metrics are handed over at one place, and a dashboard sees what is wrong.
#![cfg(unix)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reprise_session::key_file::{KeyFileFormat, KeyFiles, new_keys, watch, write_ring};
use reprise_session::metrics::Counters;
use reprise_session::rustls::Resumption;
use reprise_session::{Random, SystemRandom};
use rustls_pki_types::UnixTime;

use super::pair::{Fleet, VERSIONS};

fn page(path: &Path, format: KeyFileFormat) -> String {
    let counters = Arc::new(Counters::default());
    let (ring, _watcher) = watch(KeyFiles::new(format, [path]), Duration::from_secs(10)).unwrap();
    let _resumption = Resumption::builder().tickets(ring).metrics(counters.clone()).build().unwrap();
    counters.render()
}

#[test]
fn keys_that_nobody_renews_are_stale_without_a_handshake() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let now = UnixTime::now().as_secs();
    let at = |before: u64| UnixTime::since_unix_epoch(Duration::from_secs(now - before));
    let hour = Duration::from_secs(3600);
    for (age, stale, encrypts) in [(0, 0, 1), (5500, 1, 1), (9000, 1, 0)] {
        let ring = new_keys(hour, 64, at(age), &SystemRandom).unwrap();
        write_ring(&path, KeyFileFormat::Reprise, &ring, at(age)).unwrap();
        let page = page(&path, KeyFileFormat::Reprise);
        for line in [format!("keys_stale {stale}"), format!("ring_encrypts {encrypts}"), "ring_keys 3".to_owned()] {
            assert!(page.contains(&format!("reprise_session_{line}\n")), "{age}: {line} is not in\n{page}");
        }
        let begins = if age < 3600 { at(age) } else { at(age - 3600) };
        let timestamp = format!("reprise_session_ring_key_timestamp_seconds {}\n", begins.as_secs());
        assert_eq!(page.contains(&timestamp), encrypts == 1, "{age}: {timestamp} in\n{page}");
    }
}

#[test]
fn a_key_of_nginx_encrypts_and_has_no_timestamp() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ticket.key");
    let mut key = [0; 80];
    SystemRandom.fill(&mut key).unwrap();
    std::fs::write(&path, key).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let page = page(&path, KeyFileFormat::Nginx);
    assert!(page.contains("reprise_session_ring_encrypts 1\n"), "{page}");
    assert!(!page.contains("\nreprise_session_ring_key_timestamp_seconds "), "{page}");
}

#[test]
fn what_renews_the_ring_reports_to_the_metrics_of_resumption() {
    let fleet = Fleet::new();
    let _resumption = fleet.builder().tickets(fleet.ring.clone()).build().unwrap();
    // As a shared store does that keeps this ring.
    fleet.ring.reported().store_event(reprise_session::metrics::StoreEvent::Connected);
    assert!(fleet.counters.render().contains("reprise_session_store_connected 1\n"));
    let client = fleet.client(VERSIONS[0]);
    client.connect(&fleet.server(&fleet.builder().tickets(fleet.ring.clone()).build().unwrap()));
    assert!(fleet.counters.render().contains("reprise_session_issued_total{kind=\"ticket\"} 1\n"));
}

#[test]
fn an_error_shows_the_mode_in_octal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ticket.key");
    std::fs::write(&path, [7; 80]).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let error = watch(KeyFiles::new(KeyFileFormat::Nginx, [&path]), Duration::from_secs(10)).unwrap_err();
    // As a main prints it that returns it.
    let said = format!("{:?}", Box::<dyn std::error::Error>::from(error));
    assert!(said.contains("mode 644: ") && !said.contains("420"), "{said}");
}
