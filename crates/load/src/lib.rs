//! Many connections at once: how many handshakes a second does a server hold, and who is the bottleneck?

mod alarm;
mod arrivals;
mod client;
mod connection;
mod cpu;
mod deadlines;
mod document;
mod engine_client;
mod entropy;
mod fault;
mod lean;
mod load;
mod merge;
mod mlkem_unit;
mod options;
mod response;
mod step;
mod tally;
mod unit_share;
mod verdict;
mod worker;

pub use engine_client::engine_configs;
pub use fault::{Fault, FaultCounts};
pub use load::{Observer, Outcome, Silent, run};
pub use merge::{MergeError, merge};
pub use options::{Arrival, Close, End, KeyShareMode, Options, Spread, TlsOptions, WeightedName};
pub use step::{Search, StepTarget, search};
pub use unit_share::{UnitKeyShare, UnitKeyShares};
