//! Where stateful sessions are: in this process, or in a store that the nodes share.

mod index;
mod limits;
mod local;
#[cfg(feature = "remote")]
pub mod remote;
mod shard;
mod shared;
mod wait;

pub use limits::StoreLimits;
pub use local::LocalStore;
pub use shard::StoredState;
pub use shared::{Answer, Answers, Fetch, Lookup, SharedStore, StoreKey, Written};
pub use wait::wait;
