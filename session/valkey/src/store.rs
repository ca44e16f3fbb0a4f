use std::fmt;
use std::time::Duration;

use reprise_session::RingHandle;
use reprise_session::store::remote::{RemoteStore, StartError, StoreStatus};
use reprise_session::store::{Fetch, Lookup, SharedStore, StoreKey, Written};

use crate::config::ValkeyConfig;
use crate::connection::{Connection, Connector};

/// A store in Valkey or Redis, with a thread of its own that keeps the connection and rotates the ring. The thread ends with the
/// last clone of the store and of the ring's handle.
#[derive(Clone)]
pub struct Valkey(RemoteStore<Connection>);

/// Why the store cannot be used at all.
pub type ValkeyError = StartError;

impl Valkey {
    /// Starts to use a store, and returns it with the ring that its nodes share.
    ///
    /// Waits for the first connection up to [`RemoteConfig::start`](reprise_session::store::remote::RemoteConfig::start). Without one it
    /// begins all the same, with a ring of its own until the store is there. What a store refuses later is in [`Valkey::status`], the
    /// metrics and the log, and all else goes on.
    ///
    /// # Errors
    /// [`ValkeyError`]: what no waiting would help. [`ValkeyError::Refused`] names a command that the store refuses and what to
    /// change, unless the store was not there in time.
    pub fn start(config: ValkeyConfig) -> Result<(Self, RingHandle), ValkeyError> {
        let connector = Connector::new(&config.topology, config.ca.as_ref(), &config.prefix)
            .map_err(|error| ValkeyError::Address(error.to_string()))?;
        let (store, ring) = RemoteStore::start(connector, config.into_remote())?;
        Ok((Self(store), ring))
    }

    /// Whether there is a connection to the store now.
    pub fn is_connected(&self) -> bool {
        self.0.is_connected()
    }

    /// How the store is: all that is known, for a health endpoint.
    pub fn status(&self) -> StoreStatus {
        self.0.status()
    }
}

impl SharedStore for Valkey {
    fn fetch(&self, lookups: Vec<Lookup>) -> Fetch {
        self.0.fetch(lookups)
    }

    fn is_sure(&self) -> bool {
        self.0.is_sure()
    }

    fn put(&self, key: StoreKey, entry: Vec<u8>, lifetime: Duration) -> Option<Written> {
        self.0.put(key, entry, lifetime)
    }
}

impl fmt::Debug for Valkey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Valkey").field("is_connected", &self.is_connected()).finish_non_exhaustive()
    }
}
