use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{HandshakeFailure, HandshakeKind, Issued, Metrics, RingState, StoreEvent, StoreOperation, names};
use crate::ticket::Refused;

/// Counters in memory, for servers without a registry of their own.
#[derive(Debug, Default)]
pub struct Counters {
    handshakes: [AtomicU64; HandshakeKind::ALL.len()],
    failed: [AtomicU64; HandshakeFailure::ALL.len()],
    issued: [AtomicU64; Issued::ALL.len()],
    not_resumed: [AtomicU64; Refused::ALL.len()],
    /// Of each operation, how many were answered and how many were not.
    store: [[AtomicU64; 2]; StoreOperation::ALL.len()],
    refusing: [AtomicU64; StoreOperation::ALL.len()],
    store_nanos: AtomicU64,
    longest_nanos: AtomicU64,
    connected: AtomicU64,
    paused: AtomicU64,
    retries: AtomicU64,
    ring_version: AtomicU64,
    ring_keys: AtomicU64,
    ring_encrypts: AtomicU64,
    /// 0: not known.
    ring_since: AtomicU64,
    keys_stale: AtomicU64,
}

impl Counters {
    /// How many handshakes of a kind there were.
    pub fn handshakes(&self, kind: HandshakeKind) -> u64 {
        self.handshakes.get(kind as usize).map_or(0, load)
    }

    /// How many handshakes were not completed for a reason.
    pub fn handshakes_failed(&self, why: HandshakeFailure) -> u64 {
        self.failed.get(why as usize).map_or(0, load)
    }

    /// How many sessions clients were given.
    pub fn sessions_issued(&self, session: Issued) -> u64 {
        self.issued.get(session as usize).map_or(0, load)
    }

    /// How many handshakes were full for a reason.
    pub fn refused(&self, why: Refused) -> u64 {
        self.not_resumed.get(why as usize).map_or(0, load)
    }

    /// How many operations a shared store answered, and how many it did not.
    pub fn store_operations(&self, operation: StoreOperation) -> (u64, u64) {
        self.store.get(operation as usize).map_or((0, 0), |[answered, unanswered]| (load(answered), load(unanswered)))
    }

    /// The longest that a handshake waited for a shared store.
    pub fn longest_wait(&self) -> Duration {
        Duration::from_nanos(load(&self.longest_nanos))
    }

    /// The page for a scraper: OpenMetrics text, as `Display` writes it.
    pub fn render(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(page, "# TYPE {} counter", names::HANDSHAKES)?;
        for kind in HandshakeKind::ALL {
            writeln!(page, "{}_total{{kind=\"{}\"}} {}", names::HANDSHAKES, kind.label(), self.handshakes(kind))?;
        }
        writeln!(page, "# TYPE {} counter", names::HANDSHAKES_FAILED)?;
        for why in HandshakeFailure::ALL {
            let count = self.handshakes_failed(why);
            writeln!(page, "{}_total{{reason=\"{}\"}} {count}", names::HANDSHAKES_FAILED, why.label())?;
        }
        writeln!(page, "# TYPE {} counter", names::ISSUED)?;
        for session in Issued::ALL {
            writeln!(page, "{}_total{{kind=\"{}\"}} {}", names::ISSUED, session.label(), self.sessions_issued(session))?;
        }
        writeln!(page, "# TYPE {} counter", names::NOT_RESUMED)?;
        for why in Refused::ALL {
            writeln!(page, "{}_total{{reason=\"{}\"}} {}", names::NOT_RESUMED, why.label(), self.refused(why))?;
        }
        writeln!(page, "# TYPE {} counter", names::STORE)?;
        for operation in [StoreOperation::Fetch, StoreOperation::Put] {
            let (answered, unanswered) = self.store_operations(operation);
            let label = operation.label();
            for (count, is_answered) in [(answered, true), (unanswered, false)] {
                let labels = format_args!("operation=\"{label}\",answered=\"{is_answered}\"");
                writeln!(page, "{}_total{{{labels}}} {count}", names::STORE)?;
            }
        }
        let seconds = |nanos: &AtomicU64| Duration::from_nanos(load(nanos)).as_secs_f64();
        writeln!(page, "# TYPE {0} counter\n{0}_total {1}", names::STORE_SECONDS, seconds(&self.store_nanos))?;
        writeln!(page, "# TYPE {0} gauge\n{0} {1}", names::STORE_LONGEST, seconds(&self.longest_nanos))?;
        writeln!(page, "# TYPE {} gauge", names::STORE_REFUSING)?;
        for (operation, refusing) in StoreOperation::ALL.into_iter().zip(&self.refusing) {
            writeln!(page, "{}{{operation=\"{}\"}} {}", names::STORE_REFUSING, operation.label(), load(refusing))?;
        }
        writeln!(page, "# TYPE {0} counter\n{0}_total {1}", names::STORE_RETRIES, load(&self.retries))?;
        writeln!(page, "# TYPE {} gauge", names::RING_SINCE)?;
        match load(&self.ring_since) {
            0 => {}
            since => writeln!(page, "{} {since}", names::RING_SINCE)?,
        }
        let gauges = [
            (names::STORE_CONNECTED, load(&self.connected)),
            (names::STORE_PAUSED, load(&self.paused)),
            (names::RING_VERSION, load(&self.ring_version)),
            (names::RING_KEYS, load(&self.ring_keys)),
            (names::RING_ENCRYPTS, load(&self.ring_encrypts)),
            (names::KEYS_STALE, load(&self.keys_stale)),
        ];
        for (name, value) in gauges {
            writeln!(page, "# TYPE {name} gauge\n{name} {value}")?;
        }
        writeln!(page, "# EOF")
    }
}

impl Metrics for Counters {
    fn handshake(&self, kind: HandshakeKind) {
        count(self.handshakes.get(kind as usize));
    }

    fn handshake_failed(&self, why: HandshakeFailure) {
        count(self.failed.get(why as usize));
    }

    fn issued(&self, session: Issued) {
        count(self.issued.get(session as usize));
    }

    fn not_resumed(&self, why: Refused) {
        count(self.not_resumed.get(why as usize));
    }

    fn store(&self, operation: StoreOperation, waited: Duration, answered: bool) {
        count(self.store.get(operation as usize).and_then(|counts| counts.get(usize::from(!answered))));
        let nanos = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
        if operation == StoreOperation::Fetch {
            self.store_nanos.fetch_add(nanos, Ordering::Relaxed);
            self.longest_nanos.fetch_max(nanos, Ordering::Relaxed);
        }
    }

    fn store_event(&self, event: StoreEvent) {
        let set = |gauge: Option<&AtomicU64>, value| {
            if let Some(gauge) = gauge {
                gauge.store(value, Ordering::Relaxed);
            }
        };
        match event {
            StoreEvent::Connected => set(Some(&self.connected), 1),
            StoreEvent::Disconnected => set(Some(&self.connected), 0),
            StoreEvent::Paused => set(Some(&self.paused), 1),
            StoreEvent::Resumed => set(Some(&self.paused), 0),
            StoreEvent::Retried => count(Some(&self.retries)),
            StoreEvent::Refused(operation) => set(self.refusing.get(operation as usize), 1),
            StoreEvent::Accepted(operation) => set(self.refusing.get(operation as usize), 0),
        }
    }

    fn ring(&self, state: RingState) {
        self.ring_version.store(state.version, Ordering::Relaxed);
        self.ring_keys.store(state.keys as u64, Ordering::Relaxed);
        self.ring_encrypts.store(state.encrypts.into(), Ordering::Relaxed);
        self.ring_since.store(state.since.map_or(0, |since| since.as_secs()), Ordering::Relaxed);
    }

    fn keys_stale(&self, is_stale: bool) {
        self.keys_stale.store(is_stale.into(), Ordering::Relaxed);
    }
}

fn count(counter: Option<&AtomicU64>) {
    if let Some(counter) = counter {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_page_counts_what_was_told() {
        let counters = Counters::default();
        counters.handshake(HandshakeKind::Ticket);
        counters.handshake(HandshakeKind::Ticket);
        counters.not_resumed(Refused::OverCap);
        counters.store(StoreOperation::Fetch, Duration::from_millis(2), false);
        counters.ring(RingState { version: 7, keys: 2, encrypts: true, since: Some(crate::at(1000)) });
        counters.handshake_failed(HandshakeFailure::Alert);
        counters.issued(Issued::Ticket);
        for event in [StoreEvent::Connected, StoreEvent::Retried, StoreEvent::Refused(StoreOperation::Put)] {
            counters.store_event(event);
        }
        let page = counters.render();
        for line in [
            "reprise_session_handshakes_total{kind=\"ticket\"} 2",
            "reprise_session_handshakes_failed_total{reason=\"alert\"} 1",
            "reprise_session_handshakes_failed_total{reason=\"closed\"} 0",
            "reprise_session_issued_total{kind=\"ticket\"} 1",
            "reprise_session_not_resumed_total{reason=\"over_cap\"} 1",
            "reprise_session_store_operations_total{operation=\"fetch\",answered=\"false\"} 1",
            "reprise_session_store_longest_wait_seconds 0.002",
            "reprise_session_ring_version 7",
            "reprise_session_ring_encrypts 1",
            "reprise_session_ring_key_timestamp_seconds 1000",
            "reprise_session_store_connected 1",
            "reprise_session_store_refusing{operation=\"put\"} 1",
            "reprise_session_store_retries_total 1",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
        }
    }

    #[test]
    fn every_name_is_on_the_page() {
        let page = Counters::default().render();
        let on_page: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
        assert_eq!(BTreeSet::from_iter(on_page), BTreeSet::from(names::ALL));
    }

    #[test]
    fn the_dashboard_shows_every_metric_and_no_other() {
        // An archive of this package has no documentation of the checkout.
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana/session.json");
        let Ok(dashboard) = std::fs::read_to_string(path) else { return };
        let counters = Counters::default();
        counters.ring(RingState { version: 1, keys: 1, encrypts: true, since: Some(crate::at(1000)) });
        let page = counters.render();
        let samples: BTreeSet<&str> = page.lines().filter_map(|line| line.split([' ', '{']).next()).collect();
        let in_words =
            |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(str::to_owned).collect();
        let words: Vec<String> = in_words(&dashboard);
        let shown: BTreeSet<&str> =
            words.iter().map(String::as_str).filter(|word| word.starts_with("reprise_session_")).collect();
        let known: BTreeSet<&str> = samples.into_iter().filter(|name| name.starts_with("reprise_session_")).collect();
        assert_eq!(shown, known);
    }

    #[test]
    fn every_reason_has_its_own_counter() {
        for (index, why) in Refused::ALL.into_iter().enumerate() {
            assert_eq!(why as usize, index);
        }
        for (index, why) in HandshakeFailure::ALL.into_iter().enumerate() {
            assert_eq!(why as usize, index);
        }
    }

    #[test]
    fn a_key_of_unknown_age_has_no_timestamp() {
        let counters = Counters::default();
        counters.ring(RingState { version: 1, keys: 1, encrypts: true, since: None });
        let page = counters.render();
        assert!(page.contains("reprise_session_ring_encrypts 1\n"), "{page}");
        assert!(!page.contains("\nreprise_session_ring_key_timestamp_seconds "), "{page}");
    }
}
