//! When failures in a row mean that the target has died, and not that it restarts.

use reprise_model::Nanos;

/// So many failures in a row may mean that the target has died.
const MANY: u32 = 5;

/// A server that is restarted is away for about a second: failures that all fall into a shorter time prove nothing.
const RESTART: Nanos = Nanos(1_500_000_000);

/// The failures since the last connection that completed.
#[derive(Debug, Default)]
pub(crate) struct FailuresInARow {
    count: u32,
    first: Nanos,
}

/// What a failure means for the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing yet.
    GoOn,
    /// The target may be restarting: no connection before this time.
    WaitUntil(Nanos),
    /// The target has died.
    GiveUp,
}

impl FailuresInARow {
    /// Whether no more than one has failed.
    pub(crate) fn may_be_chance(&self) -> bool {
        self.count <= 1
    }

    /// A connection has completed.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }

    /// A connection has failed at `now`.
    pub(crate) fn add(&mut self, now: Nanos) -> Next {
        if self.count == 0 {
            self.first = now;
        }
        self.count += 1;
        let restarted = self.first + RESTART;
        match self.count {
            ..MANY => Next::GoOn,
            _ if now >= restarted => Next::GiveUp,
            _ => Next::WaitUntil(restarted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    fn failing_at(failures: &mut FailuresInARow, milliseconds: &[u64]) -> Vec<Next> {
        milliseconds.iter().map(|at| failures.add(Nanos(at * MILLISECOND))).collect()
    }

    #[test]
    fn five_failures_at_once_may_be_a_restart() {
        let mut failures = FailuresInARow::default();
        let restarted = Nanos(1_510 * MILLISECOND);
        let [.., fourth, fifth] = failing_at(&mut failures, &[10, 10, 10, 11, 11])[..] else { panic!() };
        assert_eq!((fourth, fifth), (Next::GoOn, Next::WaitUntil(restarted)));
        assert_eq!(failures.add(restarted), Next::GiveUp, "nothing came back");
    }

    #[test]
    fn a_target_that_came_back_is_given_as_long_again() {
        let mut failures = FailuresInARow::default();
        failing_at(&mut failures, &[10, 10, 10, 10, 10]);
        failures.end();
        let later = failing_at(&mut failures, &[9_000, 9_000, 9_000, 9_000, 9_000]);
        assert_eq!(later[3..], [Next::GoOn, Next::WaitUntil(Nanos(10_500 * MILLISECOND))]);
    }

    #[test]
    fn five_failures_that_took_their_time_are_a_dead_target() {
        let slow = failing_at(&mut FailuresInARow::default(), &[0, 2_000, 4_000, 6_000, 8_000]);
        assert_eq!(slow[3..], [Next::GoOn, Next::GiveUp]);
    }
}
