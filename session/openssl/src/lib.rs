//! TLS sessions that all nodes share, for servers on the [`openssl`] crate: the same rings and stores as
//! `reprise-session` has for rustls.
//!
//! [`Sessions::tickets`] seals tickets under a ring of keys, in OpenSSL's own format (RFC 5077 §4), so that rotation is the ring's.
//! [`Sessions::stored`] keeps sessions in a store, sealed: IDs of TLS 1.2, and TLS 1.3 tickets that are resumed once. What a session is bound to is
//! the `context`, beside what OpenSSL compares by itself: the SNI, the version, the suite.
//!
//! [`ClientSessions`] is the other side: a client's sessions in a folder, so that a program that is started a thousand times resumes.
//!
//! A handshake waits for the store within its budget, and blocks its thread meanwhile, as OpenSSL's callbacks do.
//!
//! Everything stands behind the feature `openssl`, which is off by default. It needs OpenSSL 3.0 or later.
//!
//! ```
//! # #[cfg(feature = "openssl")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//!
//! use openssl::ssl::{SslAcceptor, SslMethod};
//! use reprise_session::{RingHandle, Rotation};
//! use reprise_session_openssl::Sessions;
//! # use rustls_pki_types::UnixTime;
//!
//! // Keys that rotate by themselves; `key_file::watch` has them from files, `reprise-session-valkey` from a shared store.
//! let ring = RingHandle::in_memory(Rotation::new(Duration::from_secs(6 * 3600))?, UnixTime::now())?;
//! let mut builder = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server())?;
//! Sessions::tickets(b"www.example.org, no client certificates", ring).apply(&mut builder)?;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "openssl"))]
//! # fn main() {}
//! ```
#![cfg(feature = "openssl")]

mod callbacks;
mod client;
mod context;
mod ffi;
mod sessions;

pub use client::ClientSessions;
pub use sessions::Sessions;
