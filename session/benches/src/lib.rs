//! What one thread has used so far: on a machine that is busy with other work, the time on the wall says little.

use std::time::Duration;

/// Of the calling thread.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// Processor time.
    pub cpu: Duration,
    /// How often it went to sleep, as for a lock that another held: what processor time does not show.
    pub sleeps: u64,
}

impl Used {
    /// By the kernel's account.
    #[cfg(target_os = "linux")]
    pub fn so_far() -> std::io::Result<Self> {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::sys::time::TimeValLike;

        let usage = getrusage(UsageWho::RUSAGE_THREAD)?;
        let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        let sleeps = u64::try_from(usage.voluntary_context_switches()).unwrap_or(0);
        Ok(Self { cpu: Duration::from_micros(u64::try_from(micros).unwrap_or(0)), sleeps })
    }

    /// Elsewhere by the wall.
    #[cfg(not(target_os = "linux"))]
    pub fn so_far() -> std::io::Result<Self> {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Ok(Self { cpu: since.map_err(std::io::Error::other)?, sleeps: 0 })
    }

    /// Since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self { cpu: self.cpu.saturating_sub(earlier.cpu), sleeps: self.sleeps.saturating_sub(earlier.sleeps) }
    }
}
