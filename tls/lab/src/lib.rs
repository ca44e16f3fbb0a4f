//! Certificates and embedded servers.
//!
//! Servers:
//!
//! - [`EmbeddedServer`]: HTTPS over rustls inside this process, with resumption switched as asked. `reprise measure`
//!   without a target measures these.
//! - [`WatchedServer`]: the same server, which resumes in every way and keeps what each client offered.
//!   `reprise diagnose --listen` judges clients by it.
//!
//! The servers keep an account of each connection, joined to the client's by the client's port: the witness against
//! which tests hold what the client claims.
//!
//! ```
//! use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, EmbeddedResumption, ServerSpec};
//!
//! # fn main() -> Result<(), reprise_lab::LabError> {
//! let authority = Authority::new()?;
//! let identity = authority.server(&ServerSpec::new(KeyKind::P256))?;
//! let server = EmbeddedServer::start(EmbeddedConfig {
//!     resumption: EmbeddedResumption::Ticket,
//!     ..EmbeddedConfig::new(identity)
//! })?;
//! assert!(server.address().ip().is_loopback());
//! assert!(server.accounts().is_empty());
//! # Ok(())
//! # }
//! ```

mod authority;
mod delayed;
mod embedded;
mod error;
mod identity;
mod key_kind;
mod listener;
mod rsa_1024;
mod turn;
mod watched;

pub use authority::{Authority, ServerSpec, Validity};
pub use delayed::start_delayed_relay;
pub use embedded::{
    ClientAuthRequest, ConnectionAccount, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, HandshakeFailure,
    ServerApplication, Turn, Versions,
};
pub use error::LabError;
pub use identity::{Identity, PemFiles};
pub use key_kind::KeyKind;
pub use listener::{Guest, Listener};
pub use rsa_1024::rsa_1024_server;
pub use rustls::{CipherSuite, NamedGroup};
pub use turn::rustls_turn;
pub use watched::{WatchedConfig, WatchedServer};

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, LabError>;
