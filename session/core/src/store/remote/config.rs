use std::sync::Arc;
use std::time::Duration;

use rustls::time_provider::{DefaultTimeProvider, TimeProvider};

use crate::metrics::{Metrics, NoMetrics};
use crate::rotation::Rotation;
use crate::sealed_ring::KeyEncryptionKeys;

/// How a store is used, whatever its kind: [`RemoteConfig::new`], and a method for each field that has a default.
#[derive(Debug)]
#[non_exhaustive]
pub struct RemoteConfig {
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
    /// How long the start waits for the store; 2 s by default. Without one it begins with a ring of its own.
    pub start: Duration,
    /// How long after its start, or after it became the master again, the store is not trusted with early data; 120 s by
    /// default, and never less than that in production: rustls accepts early data from tickets whose age is wrong by up to 60 s
    /// either way. A store that does not say which one it is, as clusters do not, is never trusted with it.
    pub window: Duration,
    /// What this node takes for the time; the system's clock by default. It should be the one of its
    /// [`Resumption`](crate::rustls::Resumption).
    pub clock: Arc<dyn TimeProvider>,
    /// Who is told how long the store takes, and of the ring, beside those of each
    /// [`Resumption`](crate::rustls::Resumption) that the ring is given to: a server gives its metrics there alone.
    pub metrics: Arc<dyn Metrics>,
}

impl RemoteConfig {
    /// With the defaults that the fields name.
    pub fn new(rotation: Rotation, keys: KeyEncryptionKeys) -> Self {
        Self {
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
            clock: Arc::new(DefaultTimeProvider),
            metrics: Arc::new(NoMetrics),
        }
    }

    /// With this [`RemoteConfig::prefix`].
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), ..self }
    }

    /// With this [`RemoteConfig::budget`].
    #[must_use]
    pub fn budget(self, budget: Duration) -> Self {
        Self { budget, ..self }
    }

    /// With this [`RemoteConfig::in_flight`].
    #[must_use]
    pub fn in_flight(self, in_flight: usize) -> Self {
        Self { in_flight, ..self }
    }

    /// With a circuit breaker of these [`RemoteConfig::failures`] and this [`RemoteConfig::pause`].
    #[must_use]
    pub fn breaker(self, failures: u32, pause: Duration) -> Self {
        Self { failures, pause, ..self }
    }

    /// With these bounds, [`RemoteConfig::queue`] and [`RemoteConfig::queue_bytes`].
    #[must_use]
    pub fn queue(self, entries: usize, bytes: u32) -> Self {
        Self { queue: entries, queue_bytes: bytes, ..self }
    }

    /// With this [`RemoteConfig::refresh`].
    #[must_use]
    pub fn refresh(self, refresh: Duration) -> Self {
        Self { refresh, ..self }
    }

    /// With this [`RemoteConfig::start`].
    #[must_use]
    pub fn start(self, start: Duration) -> Self {
        Self { start, ..self }
    }

    /// With this [`RemoteConfig::window`].
    #[must_use]
    pub fn window(self, window: Duration) -> Self {
        Self { window, ..self }
    }

    /// With this [`RemoteConfig::clock`].
    #[must_use]
    pub fn clock(self, clock: Arc<dyn TimeProvider>) -> Self {
        Self { clock, ..self }
    }

    /// With these [`RemoteConfig::metrics`].
    #[must_use]
    pub fn metrics(self, metrics: Arc<dyn Metrics>) -> Self {
        Self { metrics, ..self }
    }
}
