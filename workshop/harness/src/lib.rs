//! What tests of several crates share. Each part is a feature, so that a crate's tests build only what they use.
//!
//! - `program`: calls of the program `reprise`, a lab of certificates for it, and what came of them.
//! - `client` (feature `client`): a client that knows nothing of Reprise's own engine.
//! - `load` (feature `load`): loads through the library.
//! - [`posix_server`]: the library for microcontrollers as a server on this computer.
//! - `reemit` (feature `wire`): everything that can be parsed, as tables.
//! - [`vector_file`]: the traces of RFC 8448.
#![allow(clippy::unwrap_used, clippy::panic, reason = "only tests call it: it panics where a test should fail")]

#[cfg(feature = "client")]
pub mod client;
#[cfg(all(feature = "load", target_os = "linux"))]
pub mod load;
pub mod posix_server;
#[cfg(feature = "program")]
mod program;
#[cfg(feature = "wire")]
pub mod reemit;
pub mod vector_file;

#[cfg(feature = "program")]
pub use program::*;
