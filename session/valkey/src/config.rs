use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::refusal::Refusal;
use reprise_session::metrics::{Metrics, NoMetrics};
use reprise_session::{KeyEncryptionKeys, KeyError, Rotation};
use rustls::time_provider::{DefaultTimeProvider, TimeProvider};

/// Where the store is. Addresses are URLs: `redis://[user][:password@]host[:port][/database]`, or `rediss://` for TLS.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Topology {
    /// One server.
    Single(String),
    /// A cluster, by some of its nodes.
    Cluster(Vec<String>),
    /// Whichever server the sentinels call the master of this name. Its password and TLS are those of the first sentinel's
    /// URL.
    Sentinel {
        /// The sentinels.
        sentinels: Vec<String>,
        /// The name of the master.
        master: String,
    },
}

/// Without the addresses: they may hold a password.
impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Single(_) => "Single(..)",
            Self::Cluster(_) => "Cluster(..)",
            Self::Sentinel { .. } => "Sentinel(..)",
        })
    }
}

/// How the store is used: [`ValkeyConfig::new`], and a method for each field that has a default.
///
/// ```
/// # #[cfg(feature = "valkey")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use reprise_session::{KeyEncryptionKeys, Rotation};
/// use reprise_session_valkey::{Topology, ValkeyConfig};
/// # use reprise_session::{Random, SystemRandom};
/// # let mut secret = [0; 32];
/// # SystemRandom.fill(&mut secret)?;
/// # let keys = KeyEncryptionKeys::new([&secret[..]])?;
///
/// let rotation = Rotation::new(Duration::from_secs(3600))?;
/// let topology = Topology::Single("redis://sessions.internal".to_owned());
/// let config = ValkeyConfig::new(topology, rotation, keys).prefix("shop").budget(Duration::from_millis(3));
/// # assert_eq!((config.prefix.as_str(), config.budget.as_millis()), ("shop", 3));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "valkey"))]
/// # fn main() {}
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ValkeyConfig {
    /// Where it is.
    pub topology: Topology,
    /// How the shared ring rotates.
    pub rotation: Rotation,
    /// What seals the ring; not in the store.
    pub keys: KeyEncryptionKeys,
    /// What all keys in the store begin with; `reprise` by default. Fleets with different ones share nothing.
    pub prefix: String,
    /// How long a ClientHello waits for the store at most; 25 ms by default. Time in which the store's thread waits for a
    /// processor does not count. A store that fails takes it from a few handshakes, and from then on from none.
    pub budget: Duration,
    /// How many ClientHellos may wait at a time; 256 by default. Others do not.
    pub in_flight: usize,
    /// After how many failures in a row nobody asks until the store answers again; 5 by default. They are errors, or silence that
    /// lasts.
    pub failures: u32,
    /// The first pause before a store that failed is tried again; 100 ms by default. Later ones grow up to half a second, or
    /// up to this if it is longer; chance shortens each.
    pub pause: Duration,
    /// How many writes may wait; 4,096 by default. Others are dropped.
    pub queue: usize,
    /// How many bytes of entries may wait with them; 4 MiB by default. Clients' certificates make some entries long.
    pub queue_bytes: u32,
    /// How often the ring is looked at; 1 s by default. Must be well below half of the rotation's period.
    pub refresh: Duration,
    /// How long [`Valkey::start`](crate::Valkey::start) waits for the store; 2 s by default. Without one it begins with a ring
    /// of its own.
    pub start: Duration,
    /// How long after its start, or after it became the master again, the store is not trusted with early data; 120 s by
    /// default, and never less than that in production: rustls accepts early data from tickets whose age is wrong by up to 60 s
    /// either way. A cluster and a master behind sentinels are never trusted with it.
    pub window: Duration,
    /// For TLS: the certificate authority of the store in PEM, instead of the system's.
    pub ca: Option<Vec<u8>>,
    /// What this node takes for the time; the system's clock by default. It should be the one of its
    /// [`Resumption`](reprise_session::rustls::Resumption).
    pub clock: Arc<dyn TimeProvider>,
    /// Who is told how long the store takes, and of the ring, beside those of each
    /// [`Resumption`](reprise_session::rustls::Resumption) that the ring is given to: a server gives its metrics there alone.
    pub metrics: Arc<dyn Metrics>,
}

impl ValkeyConfig {
    /// With the defaults that the fields name.
    pub fn new(topology: Topology, rotation: Rotation, keys: KeyEncryptionKeys) -> Self {
        Self {
            topology,
            rotation,
            keys,
            prefix: "reprise".to_owned(),
            budget: Duration::from_millis(25),
            in_flight: 256,
            failures: 5,
            pause: Duration::from_millis(100),
            queue: 4096,
            queue_bytes: 4 << 20,
            refresh: Duration::from_secs(1),
            start: Duration::from_secs(2),
            window: Duration::from_secs(120),
            ca: None,
            clock: Arc::new(DefaultTimeProvider),
            metrics: Arc::new(NoMetrics),
        }
    }

    /// With this [`ValkeyConfig::prefix`].
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), ..self }
    }

    /// With this [`ValkeyConfig::budget`].
    #[must_use]
    pub fn budget(self, budget: Duration) -> Self {
        Self { budget, ..self }
    }

    /// With this [`ValkeyConfig::in_flight`].
    #[must_use]
    pub fn in_flight(self, in_flight: usize) -> Self {
        Self { in_flight, ..self }
    }

    /// With a circuit breaker of these [`ValkeyConfig::failures`] and this [`ValkeyConfig::pause`].
    #[must_use]
    pub fn breaker(self, failures: u32, pause: Duration) -> Self {
        Self { failures, pause, ..self }
    }

    /// With these bounds, [`ValkeyConfig::queue`] and [`ValkeyConfig::queue_bytes`].
    #[must_use]
    pub fn queue(self, entries: usize, bytes: u32) -> Self {
        Self { queue: entries, queue_bytes: bytes, ..self }
    }

    /// With this [`ValkeyConfig::refresh`].
    #[must_use]
    pub fn refresh(self, refresh: Duration) -> Self {
        Self { refresh, ..self }
    }

    /// With this [`ValkeyConfig::start`].
    #[must_use]
    pub fn start(self, start: Duration) -> Self {
        Self { start, ..self }
    }

    /// With this [`ValkeyConfig::window`].
    #[must_use]
    pub fn window(self, window: Duration) -> Self {
        Self { window, ..self }
    }

    /// With this [`ValkeyConfig::ca`].
    #[must_use]
    pub fn ca(self, pem: impl Into<Vec<u8>>) -> Self {
        Self { ca: Some(pem.into()), ..self }
    }

    /// With this [`ValkeyConfig::clock`].
    #[must_use]
    pub fn clock(self, clock: Arc<dyn TimeProvider>) -> Self {
        Self { clock, ..self }
    }

    /// With these [`ValkeyConfig::metrics`].
    #[must_use]
    pub fn metrics(self, metrics: Arc<dyn Metrics>) -> Self {
        Self { metrics, ..self }
    }
}

/// Why the store cannot be used at all. That it cannot be reached is no such reason. `Debug` says the same as `Display`: it is what a
/// `main` that returns the error prints.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ValkeyError {
    /// An address is no URL of a store, or the certificate authority cannot be read. What is wrong with it, without the address.
    #[error("bad address of a store: {0}")]
    Address(String),
    /// No key could be made.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The store was there, and refuses a command that cannot be done without.
    #[error("{0}")]
    Refused(Refusal),
    /// Keys are published half a period before their use, and every node must see them by then.
    #[error("a ring that is looked at every {refresh:?} cannot rotate every {period:?}")]
    Refresh {
        /// How often nodes look.
        refresh: Duration,
        /// How often it rotates.
        period: Duration,
    },
    /// The thread or its runtime could not be started.
    #[error("cannot start a thread for the store: {0}")]
    Thread(#[from] std::io::Error),
}

impl fmt::Debug for ValkeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reprise_session::{Random, SystemRandom};

    use super::*;

    #[test]
    fn debug_and_errors_show_no_password() {
        let mut key = [0; 32];
        SystemRandom.fill(&mut key).unwrap();
        let url = || "redis://user:hunter2@store.internal:6379".to_owned();
        let sentinel = Topology::Sentinel { sentinels: vec![url()], master: "sessions".to_owned() };
        for topology in [Topology::Single(url()), Topology::Cluster(vec![url()]), sentinel] {
            let keys = KeyEncryptionKeys::new([&key[..]]).unwrap();
            let config = ValkeyConfig::new(topology, Rotation::new(Duration::from_secs(60)).unwrap(), keys);
            let shown = format!("{config:?} {:?}", config.topology);
            assert!(!shown.contains("hunter2") && !shown.contains("store.internal"), "{shown}");
        }
        for bad in ["redis://user:hunter2@:x", "http://user:hunter2@store", "redis://user:hunter2@store:99999999"] {
            let keys = KeyEncryptionKeys::new([&key[..]]).unwrap();
            let topology = Topology::Single(bad.to_owned());
            let config = ValkeyConfig::new(topology, Rotation::new(Duration::from_secs(60)).unwrap(), keys);
            let error = crate::Valkey::start(config).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
    }
}
