use std::time::{Duration, Instant};

/// Keeps handshakes from waiting for a store that does not answer: after some failures in a row nobody asks, until the keeper
/// finds that it answers again.
#[derive(Debug)]
pub(crate) struct Breaker {
    limit: u32,
    failures: u32,
    /// The first of the failures in a row.
    since: Option<Instant>,
    is_open: bool,
}

/// What a store did instead of answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It answered with an error, or the connection is gone.
    Error,
    /// Nothing, within the budget.
    Silence,
}

/// A store that says nothing to so many at once may have been kept from its processor for a moment: only silence that lasts is
/// a failure of its own. One answer in time, to whomever, ends it.
const LASTING: Duration = Duration::from_millis(100);

impl Breaker {
    pub(crate) fn new(limit: u32) -> Self {
        Self { limit, failures: 0, since: None, is_open: false }
    }

    /// Whether nobody asks.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// The store has answered in time. Returns whether that closed it.
    pub(crate) fn answered(&mut self) -> bool {
        (self.failures, self.since) = (0, None);
        std::mem::take(&mut self.is_open)
    }

    /// Returns whether that opened it.
    pub(crate) fn failed(&mut self, failure: Failure, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        self.failures = self.failures.saturating_add(1);
        let lasts = failure == Failure::Error || now.duration_since(since) >= LASTING;
        let opens = !self.is_open && self.failures >= self.limit && lasts;
        self.is_open |= opens;
        opens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_in_a_row_open_it_and_an_answer_closes_it() {
        let now = Instant::now();
        let mut breaker = Breaker::new(3);
        assert!(!breaker.failed(Failure::Error, now) && !breaker.failed(Failure::Error, now) && !breaker.answered());
        assert!(!breaker.failed(Failure::Error, now) && !breaker.failed(Failure::Error, now) && !breaker.is_open());
        assert!(breaker.failed(Failure::Error, now) && breaker.is_open());
        // Those that had asked before find out later.
        assert!(!breaker.failed(Failure::Error, now));
        assert!(breaker.answered() && !breaker.is_open());
    }

    #[test]
    fn a_moment_without_answers_opens_nothing() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut breaker = Breaker::new(3);
        assert!(!(0..64).any(|_| breaker.failed(Failure::Silence, at(0))), "many at once");
        assert!(!breaker.failed(Failure::Silence, at(99)));
        breaker.answered();
        assert!(!(0..64).any(|_| breaker.failed(Failure::Silence, at(100))));
        assert!(breaker.failed(Failure::Silence, at(200)));
    }
}
