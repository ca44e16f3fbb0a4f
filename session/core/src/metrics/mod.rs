//! Metrics of a server for a scraper, by name.

mod counters;
mod relay;

use std::fmt::Debug;
use std::time::Duration;

use rustls_pki_types::UnixTime;

pub use self::counters::Counters;
pub(crate) use self::relay::Relay;
use crate::key::KeyTimes;
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

/// Why a handshake was not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HandshakeFailure {
    /// The ClientHello is larger than allowed.
    HelloTooLong,
    /// rustls refuses what the client sent: it was sent an alert.
    Refused,
    /// The client sent an alert, such as for a certificate that it does not trust.
    Alert,
    /// The client ended the connection before.
    Closed,
    /// Nobody waited for longer: the caller, or a timeout of the stream.
    Timeout,
    /// The stream failed otherwise.
    Stream,
}

impl HandshakeFailure {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 6] = [Self::HelloTooLong, Self::Refused, Self::Alert, Self::Closed, Self::Timeout, Self::Stream];

    /// As a label's value: `hello_too_long`.
    pub fn label(self) -> &'static str {
        match self {
            Self::HelloTooLong => "hello_too_long",
            Self::Refused => "refused",
            Self::Alert => "alert",
            Self::Closed => "closed",
            Self::Timeout => "timeout",
            Self::Stream => "stream",
        }
    }
}

/// A session that a client was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Issued {
    /// A ticket, sealed under the ring.
    Ticket,
    /// One that the store keeps.
    Stored,
}

impl Issued {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 2] = [Self::Ticket, Self::Stored];

    /// As a label's value: `ticket`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Ticket => "ticket",
            Self::Stored => "stored",
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
    /// Whether one of them encrypts. Otherwise no session is issued.
    pub encrypts: bool,
    /// Since when it does. `None` where none does, or where its file does not say so: a file's age is no key's age.
    pub since: Option<UnixTime>,
}

impl RingState {
    /// That of `ring` at `now`.
    pub fn of(ring: &KeyRing, now: UnixTime) -> Self {
        let times = ring.encryption_key(now).map(|key| key.times());
        let since = times.filter(KeyTimes::is_known).map(|times| times.not_before);
        Self { version: ring.version(), keys: ring.keys().count(), encrypts: times.is_some(), since }
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

    /// A handshake began and was not completed. One that is refused before it began, for its ClientHello, is counted too.
    fn handshake_failed(&self, why: HandshakeFailure) {
        let _ = why;
    }

    /// A client was given a session; TLS 1.3 gives two tickets at a time.
    fn issued(&self, session: Issued) {
        let _ = session;
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
    /// A counter of handshakes that were not completed, with a label `reason`.
    pub const HANDSHAKES_FAILED: &str = "reprise_session_handshakes_failed";
    /// A counter of sessions that clients were given, with a label `kind`.
    pub const ISSUED: &str = "reprise_session_issued";
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
    /// A gauge: since when the key that encrypts does, in seconds since 1970; absent where that is not known, as of a key that
    /// another program made.
    pub const RING_SINCE: &str = "reprise_session_ring_key_timestamp_seconds";
    /// A gauge: 1 while key files cannot be read or nobody renews them.
    pub const KEYS_STALE: &str = "reprise_session_keys_stale";

    /// All of them.
    pub const ALL: [&str; 16] = [
        HANDSHAKES,
        HANDSHAKES_FAILED,
        ISSUED,
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
