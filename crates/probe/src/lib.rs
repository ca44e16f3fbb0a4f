//! Measures one target: owns the clock and the sockets, drives the engine, and returns what it saw.
//!
//! The way in is [`measure`]: [`Target`] and [`Options`] to a [`MeasureDocument`](reprise_trace::document::MeasureDocument).
//! It finds out what the target speaks and offers ([`discover`]), makes the connections of every version and kind in
//! turns ([`visit`]: the [`route`] to TLS, then the [`call`]), and computes the statistics ([`tally`]). Nothing is printed here.
//!
//! [`trace()`] makes one connection of each kind and keeps what every one of its messages was.

mod addresses;
mod application;
mod approach;
mod call;
mod clock;
mod dialogue;
mod discover;
#[cfg(test)]
mod example;
mod failure;
mod identity;
mod interrupt;
mod key_log;
mod lane;
mod measure;
mod options;
mod provenance;
mod random;
mod resolver;
mod roots;
mod route;
pub mod saved;
mod sessions;
mod socket;
mod starttls;
mod tally;

mod trace;
mod visit;
mod visitor;
mod warnings;

pub use addresses::first_that_answers;
pub use identity::{IdentityError, Passphrase, load_identity};
pub use interrupt::Interrupt;
pub use key_log::KeyLogFile;
pub use measure::{Measurement, Observer, Silent, measure};
pub use options::{Alpn, Certificates, ConnectionReuse, Options, Request, ServerName};
pub use provenance::provenance;
pub use random::{FreshKeyShares, SystemEntropy};
pub use reprise_attempt::{Target, TargetError};
pub use resolver::addresses_of;
pub use roots::{RootsError, platform_roots, read_roots};
pub use route::{Proxy, ProxyError, ProxyProtocol};
pub use starttls::StartTls;
pub use trace::{Capture, Tracing, trace};
