//! Many connections at once: how many handshakes a second does a server hold, and who is the bottleneck?
//!
//! Begin with [`run`], which starts the threads, and the event loop of one in `worker.rs`. A connection is a socket and a
//! [`reprise_attempt::Attempt`] over it, most often by the [`LeanClient`]; `resources` is what both sides use of this machine
//! meanwhile, and [`Outcome::document`] puts it all together.
//!
//! For Linux alone: its timers, its processors by name and its account of who used them are that kernel's.
#![cfg(target_os = "linux")]

mod alarm;
mod arrivals;
mod client;
mod connection;
mod deadlines;
mod descriptors;
mod document;
mod entropy;
mod fault_counts;
mod held_rate;
mod lean;
mod load;
mod mlkem_unit;
mod notices;
mod options;
mod resources;
mod socket;
mod step;
mod summary;
mod unit_share;
mod verdict;
mod verifying_client;
mod worker;

pub use lean::{LeanClient, LeanShared};
pub use load::{Observer, Outcome, Silent, run};
pub use options::{Arrival, Close, End, KeyShareMode, Options, Plan, Spread, TlsOptions, WeightedName};
pub use resources::cpu::process_tree_cpu;
pub use step::{Search, StepTarget, search};
pub use unit_share::{UnitKeyShare, UnitKeyShares};
pub use verifying_client::engine_configs;
