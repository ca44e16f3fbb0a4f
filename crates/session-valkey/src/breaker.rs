use std::time::{Duration, Instant};

/// Keeps handshakes from waiting for a store that does not answer: after some failures in a row nobody asks, until one who
/// tries finds that it answers again.
#[derive(Debug)]
pub(crate) struct Breaker {
    failures: u32,
    limit: u32,
    pause: Duration,
    /// While it is set, nobody asks before then; whoever asks after that is the one who tries, and moves it.
    closed_until: Option<Instant>,
}

impl Breaker {
    pub(crate) fn new(limit: u32, pause: Duration) -> Self {
        Self { failures: 0, limit, pause, closed_until: None }
    }

    /// Whether the store may be asked.
    pub(crate) fn allows(&mut self, now: Instant) -> bool {
        match self.closed_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                self.closed_until = Some(now + self.pause);
                true
            }
        }
    }

    pub(crate) fn succeeded(&mut self) {
        (self.failures, self.closed_until) = (0, None);
    }

    pub(crate) fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= self.limit {
            self.closed_until = Some(now + self.pause);
        }
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
        assert!(!breaker.allows(at(99)));
        assert!(breaker.allows(at(100)), "one tries");
        assert!(!breaker.allows(at(100)), "and nobody else");
        breaker.failed(at(102));
        assert!(!breaker.allows(at(201)));
        assert!(breaker.allows(at(202)));
        breaker.succeeded();
        assert!(breaker.allows(at(203)) && breaker.allows(at(203)));
    }
}
