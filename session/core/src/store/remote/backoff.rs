use std::time::Duration;

use crate::random::{Random, SystemRandom};

/// The pauses of whatever talks to a store that fails: each twice as long as the one before, up to a bound, and then cut by
/// chance to between a half and the whole. Nodes that lost one store do not come back all at once.
#[derive(Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        let longest = longest.max(first);
        Self { first, longest, next: first }
    }

    /// The next pause.
    pub(crate) fn pause(&mut self) -> Duration {
        let mut random = [0; 2];
        // Without randomness the pause is whole.
        let part = SystemRandom.fill(&mut random).map_or(u16::MAX, |()| u16::from_be_bytes(random));
        let pause = self.next / 2 + (self.next / 2).mul_f64(f64::from(part) / f64::from(u16::MAX));
        self.next = self.next.saturating_mul(2).min(self.longest);
        pause
    }

    /// The store has answered.
    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_bound_and_differ() {
        let millis = Duration::from_millis;
        let pauses = || {
            let mut backoff = Backoff::new(millis(100), millis(400));
            [(); 5].map(|()| backoff.pause())
        };
        let bounds = [100, 200, 400, 400, 400].map(millis);
        let (one, other) = (pauses(), pauses());
        for (pause, bound) in one.iter().chain(&other).zip(bounds.iter().cycle()) {
            assert!((*bound / 2..=*bound).contains(pause), "{pause:?} of {bound:?}");
        }
        assert_ne!(one, other);
    }
}
