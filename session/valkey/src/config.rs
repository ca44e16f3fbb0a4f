use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use reprise_session::metrics::Metrics;
use reprise_session::store::remote::RemoteConfig;
use reprise_session::{KeyEncryptionKeys, Rotation};
use rustls::time_provider::TimeProvider;

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

/// Where the store is, and how it is used: [`ValkeyConfig::new`], and a method for each field that has a default. Its fields are also those of
/// every store, [`RemoteConfig`].
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
    /// For TLS: the certificate authority of the store in PEM, instead of the system's.
    pub ca: Option<Vec<u8>>,
    /// What every store has.
    remote: RemoteConfig,
}

impl ValkeyConfig {
    /// With the defaults that the fields name.
    pub fn new(topology: Topology, rotation: Rotation, keys: KeyEncryptionKeys) -> Self {
        Self::of(topology, RemoteConfig::new(rotation, keys))
    }

    /// With these settings.
    pub fn of(topology: Topology, remote: RemoteConfig) -> Self {
        Self { topology, ca: None, remote }
    }

    /// With this [`RemoteConfig::prefix`].
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        Self { remote: self.remote.prefix(prefix), ..self }
    }

    /// With this [`RemoteConfig::budget`].
    #[must_use]
    pub fn budget(self, budget: Duration) -> Self {
        Self { remote: self.remote.budget(budget), ..self }
    }

    /// With this [`RemoteConfig::in_flight`].
    #[must_use]
    pub fn in_flight(self, in_flight: usize) -> Self {
        Self { remote: self.remote.in_flight(in_flight), ..self }
    }

    /// With a circuit breaker of these [`RemoteConfig::failures`] and this [`RemoteConfig::pause`].
    #[must_use]
    pub fn breaker(self, failures: u32, pause: Duration) -> Self {
        Self { remote: self.remote.breaker(failures, pause), ..self }
    }

    /// With these bounds, [`RemoteConfig::queue`] and [`RemoteConfig::queue_bytes`].
    #[must_use]
    pub fn queue(self, entries: usize, bytes: u32) -> Self {
        Self { remote: self.remote.queue(entries, bytes), ..self }
    }

    /// With this [`RemoteConfig::refresh`].
    #[must_use]
    pub fn refresh(self, refresh: Duration) -> Self {
        Self { remote: self.remote.refresh(refresh), ..self }
    }

    /// With this [`RemoteConfig::start`].
    #[must_use]
    pub fn start(self, start: Duration) -> Self {
        Self { remote: self.remote.start(start), ..self }
    }

    /// With this [`RemoteConfig::window`].
    #[must_use]
    pub fn window(self, window: Duration) -> Self {
        Self { remote: self.remote.window(window), ..self }
    }

    /// With this [`ValkeyConfig::ca`].
    #[must_use]
    pub fn ca(self, pem: impl Into<Vec<u8>>) -> Self {
        Self { ca: Some(pem.into()), ..self }
    }

    /// With this [`RemoteConfig::clock`].
    #[must_use]
    pub fn clock(self, clock: Arc<dyn TimeProvider>) -> Self {
        Self { remote: self.remote.clock(clock), ..self }
    }

    /// With these [`RemoteConfig::metrics`].
    #[must_use]
    pub fn metrics(self, metrics: Arc<dyn Metrics>) -> Self {
        Self { remote: self.remote.metrics(metrics), ..self }
    }

    pub(crate) fn into_remote(self) -> RemoteConfig {
        self.remote
    }
}

impl Deref for ValkeyConfig {
    type Target = RemoteConfig;

    fn deref(&self) -> &RemoteConfig {
        &self.remote
    }
}

impl DerefMut for ValkeyConfig {
    fn deref_mut(&mut self) -> &mut RemoteConfig {
        &mut self.remote
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
