//! TLS sessions that all nodes share, in Valkey or Redis: never trusted, never waited for.
//!
//! [`Valkey::start`] connects to one server, to a cluster or through sentinels, agrees with the other nodes on a ring of
//! keys, and is then a [`SharedStore`](reprise_session::store::SharedStore) for
//! [`Resumption`](reprise_session::rustls::Resumption):
//!
//! - A ClientHello waits for the store at most [`RemoteConfig::budget`]. After a few failures in a row nobody asks for a
//!   while, and of too many at once some do not ask at all.
//! - Writes go through a queue, behind the handshake; it is bounded by entries and by bytes.
//! - Entries and the ring are sealed; the key that seals the ring is not in the store.
//! - A store that is down, slow, full or empty costs full handshakes, and nothing else; it is used again once it is back.
//! - Early data is accepted only with a session that was taken from a store that is known for a whole window to have
//!   forgotten nothing (RFC 9846 §8.2), and never with a cluster or sentinels: while a master is cut off from its successor,
//!   both would hand out the same session.
//!
//! It has a thread with a tokio runtime of its own, so that blocking servers can use it as well.
//!
//! Everything stands behind the feature `valkey`, which is off by default.
//!
//! ```no_run
//! # #[cfg(feature = "valkey")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use reprise_session::rustls::Resumption;
//! use reprise_session::{KeyEncryptionKeys, Rotation};
//! use reprise_session_valkey::{Topology, Valkey, ValkeyConfig};
//!
//! let keys = KeyEncryptionKeys::from_file("/etc/tls/ring.key")?;
//! let rotation = Rotation::new(Duration::from_secs(3600))?;
//! let topology = Topology::Single("rediss://:password@sessions.internal:6379".to_owned());
//! let (store, ring) = Valkey::start(ValkeyConfig::new(topology, rotation, keys))?;
//! let resumption = Resumption::builder().shared_store(Arc::new(store), ring).build()?;
//! # drop(resumption);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "valkey"))]
//! # fn main() {}
//! ```
#![cfg(feature = "valkey")]

mod config;
mod connection;
mod refusal;
mod store;

pub use config::{Topology, ValkeyConfig};
pub use reprise_session::store::remote::{Refusal, RemoteConfig, StoreStatus};
pub use store::{Valkey, ValkeyError};
