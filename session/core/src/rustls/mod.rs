//! The adapter for rustls 0.23 servers; the next version of rustls changes the traits that it implements.
//!
//! rustls tells a ticketer or a session store nothing of the connection that it serves, so each connection gets a
//! configuration with one of its own, a *link*, which knows the policy, what was decrypted and what the shared store answered.
//! That costs a clone of [`rustls::ServerConfig`], about 0.2 µs. With [`Resumption::off`] nothing of this is in the path.

mod accept;
mod attempt;
mod bound;
mod certificate;
mod client_auth;
mod client_chain;
mod flight;
mod format;
mod key_share_filler;
mod key_shares;
mod link;
#[cfg(feature = "tokio")]
mod listener;
mod resumption;
mod server;
mod stream;
#[cfg(feature = "tokio")]
mod tokio;

pub use certificate::CertificateBinding;
pub use client_auth::ClientAuth;
pub use key_share_filler::KeyShareFiller;
pub use key_shares::{KeySharePool, KeyShareStatistics};
#[cfg(feature = "tokio")]
pub use listener::ResumingListener;
pub use resumption::{Resumption, ResumptionBuilder, ResumptionError};
pub use server::{ResumingServer, ServerError, Watch};
pub use stream::TlsStream;
