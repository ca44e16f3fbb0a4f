//! The clock of both sides: CPU time of this thread. What one reading costs is measured, and taken off what it is part of.

use nix::time::{ClockId, clock_gettime};
use reprise_model::Nanos;

/// CPU time of this thread.
#[derive(Clone, Copy, Debug)]
pub struct CpuClock {
    /// What lies between two readings with nothing in between: as much is in everything that is measured.
    pub reading: Nanos,
}

/// Enough for a median that repeats, in under two milliseconds.
const READINGS: usize = 2001;

impl CpuClock {
    /// With the cost of a reading, as it is here and now.
    pub fn calibrated() -> Self {
        let mut gaps: Vec<u64> = (0..READINGS)
            .map(|_| {
                let begin = now();
                now().since(begin).0
            })
            .collect();
        gaps.sort_unstable();
        Self { reading: Nanos(gaps.get(READINGS / 2).copied().unwrap_or_default()) }
    }

    /// What `work` took, without the reading.
    pub fn time<T>(self, spent: &mut Nanos, work: impl FnOnce() -> T) -> T {
        let begin = now();
        let result = work();
        let took = now().since(begin);
        *spent = *spent + Nanos(took.0.saturating_sub(self.reading.0));
        result
    }

    /// What the readings of so many intervals cost together, each two.
    pub fn readings(self, turns: u64) -> Nanos {
        Nanos(2 * turns * self.reading.0)
    }
}

fn now() -> Nanos {
    // The kernels that this is built for have it since Linux 2.6.12: it cannot fail.
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    let time = time.map(|time| (time.tv_sec() as u64, time.tv_nsec() as u64)).unwrap_or_default();
    Nanos(time.0 * 1_000_000_000 + time.1)
}
