//! Schedules of attempts over sockets: owns the clock and the sockets, and returns what was seen.
//!
//! [`Options`] say what to measure. They become a plan: for each version, what may be negotiated and which sessions there are to
//! offer. [`measure()`] finds out from the target what the plan leaves open, and makes the connections of every version and kind,
//! interleaved. [`trace()`] makes one connection of each kind, and keeps every message of both; [`diagnose`] makes the connections of
//! its experiments. All of them make a connection in one way: a connector carries out the plan of one connection over a
//! blocking socket, as an [`Attempt`](reprise_connection::Attempt), and gives back its record. What they return are
//! [`Observation`](reprise_model::Observation)s and [`Fault`](reprise_connection::Fault)s; findings and words come later, in
//! `reprise-diagnosis`.
//!
//! ```
//! use reprise_connection::Target;
//! use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, ServerSpec};
//! use reprise_probe::{CertificateTrust, Interrupt, Options, NoObserver, measure};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let identity = Authority::new()?.server(&ServerSpec::new(KeyKind::P256))?;
//! let server = EmbeddedServer::start(EmbeddedConfig::new(identity))?;
//! let options = Options { count: 2, certificates: CertificateTrust::Insecure, ..Options::default() };
//! let measurement = measure(&Target::at(server.address()), &options, &NoObserver, &Interrupt::default());
//! for series in &measurement.series {
//!     assert_eq!(series.observations.len(), 2, "{:?}", series.asked);
//! }
//! # Ok(())
//! # }
//! ```

mod acknowledgement;
mod addresses;
mod client_cpu;
mod clock;
mod connection_plan;
mod connector;
mod credentials;
pub mod crossing;
pub mod diagnose;
mod dialer;
mod discover;
mod driver;
mod failed;
mod failures_in_a_row;
pub mod fleet;
mod hello_retry;
mod interrupt;
pub mod isolation;
mod key_log;
mod measure;
mod measurement;
mod observer;
mod options;
mod plan;
mod reference;
mod replacement;
mod resolver;
pub mod saved;
mod series;
mod session_cache;
mod settings;
mod socket;
mod summary;
mod survey;
mod trace;
mod turns;

pub use acknowledgement::AcknowledgementTrial;
pub use addresses::{DeadAddress, first_that_answers};
pub use credentials::{CredentialError, Passphrase, load_certified_key, load_identity, platform_roots, read_certificates};
pub use failed::FailedConnection;
pub use hello_retry::{RetryComparison, hello_retry};
pub use interrupt::Interrupt;
pub use key_log::KeyLogFile;
pub use measure::measure;
pub use measurement::Measurement;
pub use observer::{NoObserver, Observer};
pub use options::{Alpn, CertificateTrust, FtpLogin, Options, ServerName};
pub use reference::Reference;
pub use replacement::{Readers, Replacement, Unwritable, abandon_unfinished};
pub use resolver::{AddressFamily, addresses_of};
pub use series::Series;
pub use summary::{ratios, records, run, statistics, unequal_connects};
pub use trace::{Capture, Traced, TracedPair, Tracing, trace};
pub use turns::measure_in_turns;
