//! Where stateful sessions are: in this process, or in a store that the nodes share.

mod local;
mod shared;

pub use local::{LocalStore, StoreLimits, StoredState};
pub use shared::{Answer, Answers, Fetch, Lookup, SharedStore, StoreKey};
