//! What a session weighs in the local store, by an allocator that counts.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

use std::alloc::System;
use std::time::Duration;

use reprise_session::store::{LocalStore, StoreLimits};
use rustls_pki_types::UnixTime;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const ENTRIES: u32 = 1_000_000;
const LENGTH: usize = 200;
const BOUND: usize = 340 << 20;
/// What glibc's malloc keeps beside each allocation.
const HEADER: usize = 16;

#[test]
fn a_million_sessions_fit_into_340_mib() {
    let region = Region::new(ALLOCATOR);
    let store = LocalStore::new(StoreLimits::new(ENTRIES as usize, 1 << 30), [3; 16]);
    for number in 0..ENTRIES {
        let mut id = [7; 32];
        id[..4].copy_from_slice(&number.to_be_bytes());
        store.put(UnixTime::now(), &id, &[1; LENGTH], Duration::from_secs(3600));
    }
    let stats = region.change();
    let used = stats.bytes_allocated - stats.bytes_deallocated;
    let live = stats.allocations - stats.deallocations;
    let with_headers = used + live * HEADER;
    let count = store.len();
    println!(
        "{count} sessions of {LENGTH} bytes: {used} bytes, {with_headers} with malloc's own, {} each",
        with_headers / count
    );
    assert!(count > ENTRIES as usize * 98 / 100, "{count}");
    assert!(with_headers <= BOUND, "{with_headers}");
}
