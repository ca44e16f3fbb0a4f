use std::time::{Duration, Instant};

/// Keeps handshakes from waiting for a store that does not answer: after some failures in a row nobody asks, until one who
/// tries finds that it answers again.
#[derive(Debug)]
pub(crate) struct Breaker {
    failures: u32,
    limit: u32,
    pause: Duration,
    open: Open,
}

/// Whether anybody asks: an open breaker lets nothing through.
#[derive(Clone, Copy, Debug)]
enum Open {
    No,
    /// Nobody asks before then; whoever asks after that is the one who tries, and moves it.
    Until(Instant),
    /// The pause is longer than time can be counted.
    ForEver,
}

impl Breaker {
    pub(crate) fn new(limit: u32, pause: Duration) -> Self {
        Self { failures: 0, limit, pause, open: Open::No }
    }

    /// Whether the store may be asked.
    pub(crate) fn allows(&mut self, now: Instant) -> bool {
        match self.open {
            Open::No => true,
            Open::Until(until) if now >= until => {
                self.open = self.opened(now);
                true
            }
            Open::Until(_) | Open::ForEver => false,
        }
    }

    pub(crate) fn succeeded(&mut self) {
        (self.failures, self.open) = (0, Open::No);
    }

    /// Whether that opened it: whether nobody asks from now on.
    pub(crate) fn failed(&mut self, now: Instant) -> bool {
        self.failures = self.failures.saturating_add(1);
        if self.failures < self.limit {
            return false;
        }
        self.open = self.opened(now);
        true
    }

    fn opened(&self, now: Instant) -> Open {
        now.checked_add(self.pause).map_or(Open::ForEver, Open::Until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tries_while_all_others_do_not_wait() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut breaker = Breaker::new(3, Duration::from_millis(100));
        for _ in 0..3 {
            assert!(breaker.allows(at(0)));
            breaker.failed(at(0));
        }
        assert!(breaker.failed(at(0)));
        assert!(!breaker.allows(at(99)));
        assert!(breaker.allows(at(100)), "one tries");
        assert!(!breaker.allows(at(100)), "and nobody else");
        breaker.failed(at(102));
        assert!(!breaker.allows(at(201)));
        assert!(breaker.allows(at(202)));
        breaker.succeeded();
        assert!(breaker.allows(at(203)) && breaker.allows(at(203)));
    }

    #[test]
    fn a_pause_without_end_lasts_until_the_store_is_back() {
        let mut breaker = Breaker::new(1, Duration::MAX);
        assert!(breaker.failed(Instant::now()) && !breaker.allows(Instant::now()));
        breaker.succeeded();
        assert!(breaker.allows(Instant::now()));
    }
}
