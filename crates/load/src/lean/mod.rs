//! The lean client: a TLS client that costs next to nothing, for load alone.
//!
//! It verifies no certificate, signs nothing, and may offer unit key shares; what proves that the server has done its work
//! is verified always: the server's Finished, and the decryption of every record. It is sans-IO like the engine, and
//! differs from it in what it leaves out: no events, no allocation, prepared bytes for whatever does not change.

mod client;
mod core;
mod hello;
mod hkdf;
mod joiner;
mod key_exchange;
mod record;
mod rsa_premaster;
mod schedule12;
mod schedule13;
mod session;
mod sessions;
mod shared;
mod tls12;
mod tls13;

pub use client::LeanClient;
pub use shared::LeanShared;
