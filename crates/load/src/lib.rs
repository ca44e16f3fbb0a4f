//! Many connections at once: how many handshakes a second does a server hold, and who is the bottleneck?
//!
//! The generator is for Linux: its timers, its processors by name and its account of who used them are that kernel's. Elsewhere
//! there is only [`merge()`], which makes one of several results.

#[cfg(target_os = "linux")]
mod generator;
mod histograms;
mod merge;

#[cfg(target_os = "linux")]
#[doc(hidden)]
pub use generator::Bare;
#[cfg(target_os = "linux")]
pub use generator::{
    Arrival, Close, End, Fault, FaultCounts, KeyShareMode, Observer, Options, Outcome, Search, Silent, Spread, StepTarget,
    TlsOptions, UnitKeyShare, UnitKeyShares, WeightedName, engine_configs, run, search,
};
pub use merge::{MergeError, merge};
