//! A store behind a network that all nodes share: never trusted, never waited for. A kind of store is a [`StoreBackend`] and a
//! [`StoreConnection`]; [`RemoteStore`] has all else, which is the same for each:
//!
//! - A ClientHello waits for the store at most [`RemoteConfig::budget`]. After a few failures in a row nobody asks for a
//!   while, and of too many at once some do not ask at all.
//! - Writes go through a queue, behind the handshake; it is bounded by entries and by bytes.
//! - Entries and the ring are sealed; the key that seals the ring is not in the store.
//! - A store that is down, slow, full or empty costs full handshakes, and nothing else; it is used again once it is back.
//! - Early data is accepted only with a session that was taken from a store that is known for a whole window to have
//!   forgotten nothing (RFC 9846 §8.2).
//!
//! It has a thread with a tokio runtime of its own, so that blocking servers can use it as well.

mod action;
mod backend;
mod backoff;
mod breaker;
mod budget;
mod config;
mod keeper;
mod queue;
mod refusal;
mod running;
mod start_error;
mod state;
mod status;
mod strike;
mod writer;

pub use backend::{Read, StoreBackend, StoreConnection, StoreError, Write};
pub use config::RemoteConfig;
pub use refusal::Refusal;
pub use running::RemoteStore;
pub use start_error::StartError;
pub use status::StoreStatus;
pub use strike::StoreIdentity;
