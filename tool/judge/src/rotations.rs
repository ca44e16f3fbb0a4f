//! Keys that are replaced at regular times, and the old ones forgotten: a pass over how long ago that was.
//!
//! A grid of periods and phases would not do: after ten periods, a period that is wrong by a twentieth predicts nothing. Here the
//! time since the last replacement is known as well as the attempts show it, and becomes less certain as time goes by.

use crate::attempt::{JudgedConnection, SeenConnection, likelihood};
use crate::one_node::{KeyNames, LATE};

/// Parts of a period.
const PARTS: usize = 80;
/// How much less certain the phase becomes in one period, as a part of the period: half the distance of two periods of the list.
const DRIFT: f64 = 0.05;

/// One node that forgets all it knows each time that this period has passed.
#[derive(Clone, Debug)]
pub(crate) struct Rotations {
    /// Seconds.
    period: f64,
    /// The probability that the last was so many parts of a period ago.
    since: [f64; PARTS],
    pub(crate) log_weight: f64,
}

impl Rotations {
    pub(crate) fn new(period: f64, prior: f64) -> Self {
        Self { period, since: [1.0 / PARTS as f64; PARTS], log_weight: prior.ln() }
    }

    pub(crate) fn observe(&mut self, attempt: &JudgedConnection, seen: &SeenConnection, names: &KeyNames) {
        self.since = self.after(attempt.gap);
        if names.is_late(attempt, seen) {
            self.log_weight += LATE.ln();
            return;
        }
        let named = seen.comparable_key(attempt).zip(names.last);
        let mut evidence = 0.0;
        for (part, probability) in self.since.iter_mut().enumerate() {
            let since = (part as f64 + 0.5) * self.period / PARTS as f64;
            let is_known = attempt.offered.is_some_and(|offered| offered.age < since);
            *probability *= likelihood(attempt, seen.outcome, f64::from(u8::from(is_known)), 0.0);
            if let Some((key, (_, at))) = named {
                *probability *= names.likelihood(key, attempt.at - at < since);
            }
            evidence += *probability;
        }
        self.since.iter_mut().for_each(|it| *it /= evidence);
        self.log_weight += evidence.ln();
    }

    /// As of [`crate::one_node::OneNode::predict`].
    pub(crate) fn predict(&self, attempt: &JudgedConnection) -> (f64, f64) {
        let Some(offered) = attempt.offered else { return (0.0, 0.0) };
        let parts = self.after(attempt.gap).into_iter().enumerate();
        let knows = |part: usize| offered.age < (part as f64 + 0.5) * self.period / PARTS as f64;
        (parts.filter(|(part, _)| knows(*part)).map(|(_, probability)| probability).sum::<f64>().min(1.0), 0.0)
    }

    /// How long ago the last was, `gap` seconds later.
    fn after(&self, gap: f64) -> [f64; PARTS] {
        let moved = gap / self.period * PARTS as f64;
        // Spread evenly over as many parts as the drift makes uncertain, at least over the two that it falls between.
        let spread = (moved * DRIFT).max(0.5).min(PARTS as f64 / 2.0);
        let (first, last) = (moved - spread, moved + spread);
        let mut after = [0.0; PARTS];
        let mut place = first.floor();
        while place < last {
            let share = (last.min(place + 1.0) - first.max(place)) / (last - first);
            let by = place.rem_euclid(PARTS as f64) as usize;
            for (part, probability) in self.since.iter().enumerate() {
                after[(part + by) % PARTS] += share * probability;
            }
            place += 1.0;
        }
        after
    }
}
