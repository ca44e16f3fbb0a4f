//! Many connections at once: how many handshakes a second does a server hold, and who is the bottleneck?
//!
//! Start with [`run`], which starts the threads, and the event loop of one in `worker.rs`. A connection is a socket and a
//! [`reprise_connection::Attempt`] over it, made by the engine as a [`LoadClient`]; `resources` is what both sides use of this machine
//! meanwhile, and [`LoadOutcome::document`] puts it all together.
//!
//! Linux only: it uses that kernel's timers, processor affinity and accounting.
//!
//! ```
//! use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, ServerSpec};
//! use reprise_load::{Arrival, LoadEnd, LoadOptions, NoLoadObserver, run};
//! use reprise_model::Kind;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let identity = Authority::new()?.server(&ServerSpec::new(KeyKind::P256))?;
//! let server = EmbeddedServer::start(EmbeddedConfig::new(identity))?;
//! let options = LoadOptions {
//!     arrival: Arrival::Closed { connections: 1 },
//!     end: LoadEnd::Count(10),
//!     ..LoadOptions::new(server.address(), *b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
//! };
//! let outcome = run(&options, &|| false, &NoLoadObserver)?;
//! assert_eq!(outcome.completed(Kind::Full), 10);
//! # Ok(())
//! # }
//! ```
#![cfg(target_os = "linux")]

mod alarm;
mod arrivals;
mod capacity;
mod client;
mod connection;
mod deadlines;
mod descriptors;
mod document;
mod entropy;
mod fault_counts;
mod held_rate;
mod key_shares;
mod latencies;
mod load;
mod mlkem_unit;
mod notices;
mod options;
mod rates;
mod resources;
mod seconds;
mod sessions;
mod shared;
mod socket;
mod stage_summaries;
mod step;
mod summary;
mod sweep;
mod verdict;
mod worker;

pub use capacity::{PlanTarget, plan};
pub use client::{LoadClient, ThreadSessions};
pub use latencies::LatencyCounts;
pub use load::{LoadObserver, LoadOutcome, NoLoadObserver, run};
pub use options::{
    Arrival, ArrivalSpread, Close, ConnectionPlan, KeyShareMode, LoadEnd, LoadOptions, Stage, TlsOptions, WeightedName,
};
pub use resources::cpu::process_tree_cpu;
pub use resources::{has_started, is_on_this_machine, listens_on};
pub use shared::LoadShared;
pub use step::{Search, StepTarget, search};
pub use sweep::{Sweep, sweep};
