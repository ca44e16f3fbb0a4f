//! Metrics of a server for a scraper, by name.

use std::fmt::{self, Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustls_pki_types::UnixTime;

use crate::ring::KeyRing;
use crate::ticket::Refused;

/// How a handshake was, as the server saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HandshakeKind {
    /// With certificates.
    Full,
    /// Resumed by TLS 1.2 session ID.
    Id,
    /// Resumed by ticket: TLS 1.2, or TLS 1.3 whether stateless or stored.
    Ticket,
    /// The same, with early data accepted.
    Early,
}

impl HandshakeKind {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Full, Self::Id, Self::Ticket, Self::Early];

    /// As a label's value: `full`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Id => "id",
            Self::Ticket => "ticket",
            Self::Early => "early",
        }
    }
}

impl Refused {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 11] = [
        Self::UnknownKey,
        Self::KeyExpired,
        Self::Policy,
        Self::Altered,
        Self::Expired,
        Self::OverCap,
        Self::Future,
        Self::Absent,
        Self::OverBudget,
        Self::Unanswered,
        Self::ClientCertificate,
    ];

    /// As a label's value: `unknown_key`.
    pub fn label(self) -> &'static str {
        match self {
            Self::UnknownKey => "unknown_key",
            Self::KeyExpired => "expired_key",
            Self::Policy => "policy",
            Self::Altered => "altered",
            Self::Expired => "expired",
            Self::OverCap => "over_cap",
            Self::Future => "future",
            Self::Absent => "absent",
            Self::OverBudget => "over_budget",
            Self::Unanswered => "unanswered",
            Self::ClientCertificate => "client_certificate",
        }
    }
}

/// What was asked of a shared store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StoreOperation {
    /// All lookups of one ClientHello.
    Fetch,
    /// A batch of writes.
    Put,
    /// What nodes do to agree on a ring.
    Ring,
    /// Finding out which store it is: early data needs to know.
    Identify,
}

impl StoreOperation {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Fetch, Self::Put, Self::Ring, Self::Identify];

    /// As a label's value: `fetch`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Put => "put",
            Self::Ring => "ring",
            Self::Identify => "identify",
        }
    }
}

/// What became of a shared store, whoever asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreEvent {
    /// There is a connection.
    Connected,
    /// There is none any more.
    Disconnected,
    /// It does not answer: handshakes do not ask until it does.
    Paused,
    /// It answers again.
    Resumed,
    /// It failed, and will be tried again after a pause.
    Retried,
    /// It refuses this, by an answer.
    Refused(StoreOperation),
    /// It does not refuse this any more.
    Accepted(StoreOperation),
}

/// A ring as an operator sees it: never its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RingState {
    /// Its version; 0 is a ring of this node alone, until a shared store has been seen.
    pub version: u64,
    /// How many keys it holds.
    pub keys: usize,
    /// Since when the key that encrypts does. `None`: none does, and no session is issued.
    pub since: Option<UnixTime>,
}

impl RingState {
    /// That of `ring` at `now`.
    pub fn of(ring: &KeyRing, now: UnixTime) -> Self {
        let since = ring.encryption_key(now).map(|key| key.times().not_before);
        Self { version: ring.version(), keys: ring.keys().count(), since }
    }
}

/// Is told what happens; `metrics` and `prometheus` users implement it over their own registry. The names that a scraper
/// should see stand in [`names`]. Every method must return at once.
///
/// ```
/// use reprise_session::metrics::{HandshakeKind, Metrics, names};
///
/// # mod registry {
/// #     #[derive(Debug, Default)]
/// #     pub struct Registry(pub std::sync::Mutex<Vec<String>>);
/// #     impl Registry {
/// #         pub fn increment(&self, name: &str, label: (&str, &str)) {
/// #             self.0.lock().unwrap().push(format!("{name}{{{}={}}}", label.0, label.1));
/// #         }
/// #     }
/// # }
/// # use registry::Registry;
/// /// A registry of your own: `prometheus`, `metrics` or another.
/// #[derive(Debug)]
/// struct Plugged(Registry);
///
/// impl Metrics for Plugged {
///     fn handshake(&self, kind: HandshakeKind) {
///         self.0.increment(names::HANDSHAKES, ("kind", kind.label()));
///     }
/// }
/// # let plugged = Plugged(Registry::default());
/// # plugged.handshake(HandshakeKind::Ticket);
/// # assert_eq!(*plugged.0.0.lock().unwrap(), ["reprise_session_handshakes{kind=ticket}"]);
/// ```
pub trait Metrics: Debug + Send + Sync {
    /// A handshake was completed.
    fn handshake(&self, kind: HandshakeKind) {
        let _ = kind;
    }

    /// A handshake was full although the client offered a session.
    fn not_resumed(&self, why: Refused) {
        let _ = why;
    }

    /// A shared store answered, or the waiting was over, after `waited`.
    fn store(&self, operation: StoreOperation, waited: Duration, answered: bool) {
        let _ = (operation, waited, answered);
    }

    /// The state of a shared store changed, or it failed once more.
    fn store_event(&self, event: StoreEvent) {
        let _ = event;
    }

    /// The ring in use, when it was seen to change.
    fn ring(&self, state: RingState) {
        let _ = state;
    }

    /// Key files were read: whether they cannot be, or nobody renews them.
    fn keys_stale(&self, is_stale: bool) {
        let _ = is_stale;
    }
}

/// Discards all metrics.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMetrics;

impl Metrics for NoMetrics {}

/// The names of the metrics.
pub mod names {
    /// A counter with a label `kind`.
    pub const HANDSHAKES: &str = "reprise_session_handshakes";
    /// A counter with a label `reason`.
    pub const NOT_RESUMED: &str = "reprise_session_not_resumed";
    /// A counter of a store's answers, with labels `operation` and `answered`.
    pub const STORE: &str = "reprise_session_store_operations";
    /// A counter of the seconds that were waited for a store.
    pub const STORE_SECONDS: &str = "reprise_session_store_wait_seconds";
    /// A gauge: the longest wait for a store's answer to a ClientHello, in seconds.
    pub const STORE_LONGEST: &str = "reprise_session_store_longest_wait_seconds";
    /// A gauge: 1 with a connection to the shared store.
    pub const STORE_CONNECTED: &str = "reprise_session_store_connected";
    /// A gauge: 1 while handshakes do not ask the store, since it does not answer.
    pub const STORE_PAUSED: &str = "reprise_session_store_paused";
    /// A gauge with a label `operation`: 1 while the store refuses it.
    pub const STORE_REFUSING: &str = "reprise_session_store_refusing";
    /// A counter of the pauses that were made because the store failed.
    pub const STORE_RETRIES: &str = "reprise_session_store_retries";
    /// A gauge: the version of the ring in use; 0 is one that is not shared yet.
    pub const RING_VERSION: &str = "reprise_session_ring_version";
    /// A gauge: how many keys it holds.
    pub const RING_KEYS: &str = "reprise_session_ring_keys";
    /// A gauge: 1 while a key of the ring encrypts; without one no session is issued.
    pub const RING_ENCRYPTS: &str = "reprise_session_ring_encrypts";
    /// A gauge: since when the key that encrypts does, in seconds since 1970.
    pub const RING_SINCE: &str = "reprise_session_ring_key_timestamp_seconds";
    /// A gauge: 1 while key files cannot be read or nobody renews them.
    pub const KEYS_STALE: &str = "reprise_session_keys_stale";

    /// All of them.
    pub const ALL: [&str; 14] = [
        HANDSHAKES,
        NOT_RESUMED,
        STORE,
        STORE_SECONDS,
        STORE_LONGEST,
        STORE_CONNECTED,
        STORE_PAUSED,
        STORE_REFUSING,
        STORE_RETRIES,
        RING_VERSION,
        RING_KEYS,
        RING_ENCRYPTS,
        RING_SINCE,
        KEYS_STALE,
    ];
}

/// Counters in memory, for servers without a registry of their own.
#[derive(Debug, Default)]
pub struct Counters {
    handshakes: [AtomicU64; HandshakeKind::ALL.len()],
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
    ring_since: AtomicU64,
    keys_stale: AtomicU64,
}

impl Counters {
    /// How many handshakes of a kind there were.
    pub fn handshakes(&self, kind: HandshakeKind) -> u64 {
        self.handshakes.get(kind as usize).map_or(0, load)
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

    /// The page for a scraper: OpenMetrics text.
    pub fn render(&self) -> String {
        let mut page = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut page);
        page
    }

    fn write(&self, page: &mut String) -> fmt::Result {
        writeln!(page, "# TYPE {} counter", names::HANDSHAKES)?;
        for kind in HandshakeKind::ALL {
            writeln!(page, "{}_total{{kind=\"{}\"}} {}", names::HANDSHAKES, kind.label(), self.handshakes(kind))?;
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
        let since = load(&self.ring_since);
        let gauges = [
            (names::STORE_CONNECTED, load(&self.connected)),
            (names::STORE_PAUSED, load(&self.paused)),
            (names::RING_VERSION, load(&self.ring_version)),
            (names::RING_KEYS, load(&self.ring_keys)),
            (names::RING_ENCRYPTS, u64::from(since > 0)),
            (names::RING_SINCE, since),
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
        counters.ring(RingState { version: 7, keys: 2, since: Some(crate::at(1000)) });
        for event in [StoreEvent::Connected, StoreEvent::Retried, StoreEvent::Refused(StoreOperation::Put)] {
            counters.store_event(event);
        }
        let page = counters.render();
        for line in [
            "reprise_session_handshakes_total{kind=\"ticket\"} 2",
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
        let page = Counters::default().render();
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
    }
}
