//! Every node resumes every node's TLS sessions, safely.

pub mod coordination;
mod deriving_key;
mod hello;
mod key;
pub mod key_file;
pub mod metrics;
mod policy;
mod random;
mod ring;
mod ring_handle;
mod rotation;
#[cfg(feature = "rustls")]
pub mod rustls;
mod sealed_ring;
pub mod store;
pub mod ticket;

pub use hello::{HelloTooLong, LookAhead, MAX_IDENTITIES, Offered};
pub use key::{KeyError, KeyName, KeyTimes, TicketKey};
pub use policy::{Policy, PolicyBuilder};
pub use random::{Random, RandomFailed, SystemRandom};
pub use ring::KeyRing;
pub use ring_handle::RingHandle;
pub use rotation::{Rotation, RotationError};
pub use sealed_ring::{KeyEncryptionKeys, SealedRingError};
