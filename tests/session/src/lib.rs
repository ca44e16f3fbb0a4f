//! Five processes with one store, as a fleet has them: how they are started and visited.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

pub mod client;
pub mod fleet;
pub mod process;
pub mod proxy;
pub mod store;
