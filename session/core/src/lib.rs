//! Every node resumes every node's TLS sessions, safely.
//!
//! With rustls, begin at [`rustls::Resumption`] and [`rustls::ResumingServer`]:
//!
//! ```
//! # #[cfg(feature = "rustls")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption};
//! use reprise_session::{RingHandle, Rotation};
//! # use reprise_lab::{Authority, KeyKind, ServerSpec};
//! # use rustls::crypto::aws_lc_rs::default_provider;
//! # use rustls_pki_types::UnixTime;
//! # let identity = Authority::new()?.server(&ServerSpec::new(KeyKind::P256))?;
//! # let (chain, key) = (identity.chain().to_vec(), identity.key_der());
//!
//! // Keys that rotate by themselves; `key_file::watch` has them from files, `reprise-session-valkey` from a shared store.
//! let rotation = Rotation::new(Duration::from_secs(6 * 3600))?;
//! let ring = RingHandle::in_memory(rotation, UnixTime::now())?;
//! let resumption = Resumption::builder().tickets(ring).build()?;
//!
//! let client_auth = ClientAuth::none();
//! let builder = rustls::ServerConfig::builder_with_provider(Arc::new(default_provider()));
//! let builder = client_auth.apply(builder.with_safe_default_protocol_versions()?);
//! let server = ResumingServer::new(builder.with_single_cert(chain, key)?, &client_auth, &resumption)?;
//! // For each connection: `server.accept(stream)?`, or `server.accept_tokio(stream).await?`.
//! # drop(server);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "rustls"))]
//! # fn main() {}
//! ```
//!
//! Below that is a core that reads no clock and draws no randomness, for servers over other TLS libraries: [`KeyRing`] and
//! [`Rotation`] are the keys, [`ticket`] seals and opens, [`Policy`] is what a session is bound to, [`store`] holds sessions here or
//! elsewhere, [`LookAhead`] reads a ClientHello before the TLS library does, [`coordination`] lets nodes agree on a ring.
//!
//! # Features
//!
//! `rustls` (default): the adapter for rustls 0.23. `tokio`: its `accept_tokio`. `remote`: `store::remote`, all that stores behind a network
//! have in common, under a tokio runtime of its own. The store in Valkey or Redis is the crate `reprise-session-valkey`, with its feature `valkey`. The minimum supported Rust version is 1.90.
//!
//! # What it protects, and what not
//!
//! Tickets and shared entries are encrypted and authenticated under a key of their own each, derived from ring keys that rotate; rings
//! leave a process sealed. A session is resumed only under the policy that it was made under, within its lifetime and
//! within that of its chain. Whoever has a ring key can decrypt TLS 1.2 sessions that were sealed under it: keep lifetimes short.

mod chain;
pub mod coordination;
mod deriving_key;
mod hello;
mod key;
pub mod key_file;
pub mod metrics;
mod policy;
mod random;
mod refused;
mod ring;
mod ring_handle;
mod rotation;
#[cfg(feature = "rustls")]
pub mod rustls;
mod sealed_ring;
pub mod store;
pub mod ticket;

pub use hello::{HelloTooLong, LookAhead, MAX_IDENTITIES, ResumptionOffer};
pub use key::{KeyError, KeyName, KeyTimes, TicketKey};
pub use policy::{Policy, PolicyBuilder};
pub use random::{Random, RandomFailed, SystemRandom};
pub use ring::KeyRing;
pub use ring_handle::{RingHandle, WeakRingHandle};
pub use rotation::{Rotation, RotationError};
pub use sealed_ring::{KeyEncryptionKeys, SealedRingError};

/// A moment of a test.
#[cfg(test)]
fn at(second: u64) -> rustls_pki_types::UnixTime {
    rustls_pki_types::UnixTime::since_unix_epoch(std::time::Duration::from_secs(second))
}
