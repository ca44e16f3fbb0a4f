//! Pairs of TLS stacks over memory: what a handshake costs each side, in every library that is there.
//!
//! [`compare`] makes a table: it asks a child process for each pair of stacks to make connections, some at a time, in an order in
//! which each case precedes each equally often. In the child, [`serve_requests`] answers: a crash or a hang is one row.

mod case;
mod child;
mod claims;
mod clock;
mod compare;
mod conformance;
mod keys;
mod message;
mod pair;
mod scenario;
mod stacks;
mod witness;
mod worker;

pub use case::{Case, Key};
pub use child::serve_requests;
pub use compare::{Audience, Comparison, Effort, compare, describe};
pub use conformance::{Check, KEYS as CONFORMANCE_KEYS, conformance};
pub use keys::{KeyError, Keys};
pub use message::{Failed, Outcome, StackInfo};
pub use scenario::{Scenario, Selection};
pub use stacks::{Found, StackRef, find};
pub use witness::Observed;
pub use worker::Launcher;
