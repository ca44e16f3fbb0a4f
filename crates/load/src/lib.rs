//! Many connections at once: how many handshakes a second does a server hold, and who is the bottleneck?
//!
//! The generator is for Linux: its timers, its processors by name and its account of who used them are that kernel's. Elsewhere
//! there is only [`merge()`], which makes one of several results.

mod histograms;
mod merge;

#[cfg(target_os = "linux")]
mod account;
#[cfg(target_os = "linux")]
mod alarm;
#[cfg(target_os = "linux")]
mod arrivals;
#[cfg(target_os = "linux")]
mod bare;
#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod conversation;
#[cfg(target_os = "linux")]
mod cpu;
#[cfg(target_os = "linux")]
mod cpu_limit;
#[cfg(target_os = "linux")]
mod deadlines;
#[cfg(target_os = "linux")]
mod document;
#[cfg(target_os = "linux")]
mod engine_client;
#[cfg(target_os = "linux")]
mod entropy;
#[cfg(target_os = "linux")]
mod fault;
#[cfg(target_os = "linux")]
mod held;
#[cfg(target_os = "linux")]
mod lean;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod local_ports;
#[cfg(target_os = "linux")]
mod mlkem_unit;
#[cfg(target_os = "linux")]
mod options;
#[cfg(target_os = "linux")]
mod response;
#[cfg(target_os = "linux")]
mod restraint;
#[cfg(target_os = "linux")]
mod socket;
#[cfg(target_os = "linux")]
mod step;
#[cfg(target_os = "linux")]
mod tally;
#[cfg(target_os = "linux")]
mod unit_share;
#[cfg(target_os = "linux")]
mod verdict;
#[cfg(target_os = "linux")]
mod warnings;
#[cfg(target_os = "linux")]
mod worker;

#[cfg(target_os = "linux")]
#[doc(hidden)]
pub use bare::Bare;
#[cfg(target_os = "linux")]
pub use engine_client::engine_configs;
#[cfg(target_os = "linux")]
pub use fault::{Fault, FaultCounts};
#[cfg(target_os = "linux")]
pub use load::{Observer, Outcome, Silent, run};
pub use merge::{MergeError, merge};
#[cfg(target_os = "linux")]
pub use options::{Arrival, Close, End, KeyShareMode, Options, Spread, TlsOptions, WeightedName};
#[cfg(target_os = "linux")]
pub use step::{Search, StepTarget, search};
#[cfg(target_os = "linux")]
pub use unit_share::{UnitKeyShare, UnitKeyShares};
