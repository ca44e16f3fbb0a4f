//! Makes a load and says what it came to.
//!
//! Begin with [`load`], which starts the threads, and [`worker`], the event loop of one. [`connection`] is a socket and what is
//! said over it, most often by the [`lean`] client; [`resources`] is what both sides use of this machine meanwhile. [`document`]
//! puts it all together.

mod alarm;
mod arrivals;
mod bare;
mod connection;
mod deadlines;
mod document;
mod entropy;
mod fault;
mod held;
mod lean;
mod load;
mod mlkem_unit;
mod options;
mod resources;
mod step;
mod tally;
mod unit_share;
mod verdict;
mod warnings;
mod worker;

pub use bare::Bare;
pub use connection::engine_client::engine_configs;
pub use fault::{Fault, FaultCounts};
pub use load::{Observer, Outcome, Silent, run};
pub use options::{Arrival, Close, End, KeyShareMode, Options, Spread, TlsOptions, WeightedName};
pub use step::{Search, StepTarget, search};
pub use unit_share::{UnitKeyShare, UnitKeyShares};
