//! Where stateful sessions are: in this process, or in a store that the nodes share.

mod index;
mod local;
mod shard;
mod shared;

pub use local::{LocalStore, StoreLimits};
pub use shard::StoredState;
pub use shared::{Answer, Answers, Fetch, Lookup, SharedStore, StoreKey};
