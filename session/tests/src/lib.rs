//! Five processes with one store, as a fleet has them: how they are started and visited.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

pub mod balancer;
pub mod client;
pub mod closed_loop;
pub mod fault;
pub mod fleet;
pub mod memcached;
#[cfg(feature = "valkey")]
pub mod memcached_store;
pub mod process;
pub mod proxy;
pub mod reserved_port;
pub mod store;
pub mod world;

use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything takes that does not hang, on a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds.
///
/// # Panics
/// If it does not within [`PATIENCE`].
pub fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
