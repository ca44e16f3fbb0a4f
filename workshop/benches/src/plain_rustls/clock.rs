//! CPU time of this thread.

use nix::time::{ClockId, clock_gettime};

/// In nanoseconds.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// What lies between two readings with nothing in between.
pub(crate) fn cost_of_reading() -> u64 {
    let mut gaps: Vec<u64> = (0..2001)
        .map(|_| {
            let begun = now();
            now() - begun
        })
        .collect();
    gaps.sort_unstable();
    gaps.get(1000).copied().unwrap_or_default()
}
