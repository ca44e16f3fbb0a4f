//! How many connections at once the limit of open descriptors (RLIMIT_NOFILE) has room for.

use std::fs;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use reprise_model::DescriptorShortage;

use crate::options::{Arrival, LoadOptions};

/// What each thread opens beside its connections: its poll, that poll's waker and a timer.
const EACH_THREAD: u64 = 3;

/// Left for files that are opened while the load runs: the accounts of processor time, the results.
const SPARE: u64 = 8;

impl LoadOptions {
    /// Raises this process's limit of descriptors as far as it may, and leaves no more connections at once than there is room
    /// for: more would fail one and all on this machine, and say nothing of the server. [`LoadOptions::shortage`] tells of it.
    pub fn fit_descriptors(&mut self) {
        let Some(limit) = raised_limit() else { return };
        let taken = open_descriptors() + SPARE + EACH_THREAD * self.threads as u64;
        let room = usize::try_from(limit.saturating_sub(taken)).unwrap_or(usize::MAX).max(1);
        let most = match &mut self.arrival {
            Arrival::Closed { connections } => connections,
            Arrival::Open { most, .. } => most,
        };
        let wanted = std::mem::replace(most, room.min(*most));
        self.threads = self.threads.min(room);
        self.shortage = (wanted > room).then_some(DescriptorShortage { wanted, room, limit });
    }
}

/// The soft limit, raised to the hard one where that is allowed.
fn raised_limit() -> Option<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    let raised = soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok();
    Some(if raised { hard } else { soft })
}

/// Those that this process has open now.
fn open_descriptors() -> u64 {
    fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::options::ArrivalSpread;

    #[test]
    fn what_has_no_room_is_not_asked_for() {
        let options = LoadOptions::new(SocketAddr::from(([127, 0, 0, 1], 1)), Vec::new());
        let mut few = options.clone();
        few.fit_descriptors();
        assert_eq!((few.shortage, few.arrival), (None, options.arrival));
        for arrival in [
            Arrival::Closed { connections: usize::MAX },
            Arrival::Open { rate: 1.0, spread: ArrivalSpread::Constant, most: usize::MAX },
        ] {
            let mut many = LoadOptions { arrival, ..options.clone() };
            many.fit_descriptors();
            let shortage = many.shortage.unwrap();
            assert_eq!((many.most_connections(), shortage.wanted), (shortage.room, usize::MAX));
            assert!((shortage.room as u64) < shortage.limit);
        }
    }
}
