//! Keys that are lost now and then: an exact pass over when that was last.

use crate::attempt::{JudgedConnection, SeenConnection, likelihood};
use crate::one_node::{KeyNames, LATE};

/// One node that loses all it knows at this rate.
#[derive(Clone, Debug)]
pub(crate) struct Restarts {
    /// A second.
    rate: f64,
    /// The probability that the last was just before connection r - 1; of none yet at 0.
    last: Vec<f64>,
    pub(crate) log_weight: f64,
}

impl Restarts {
    pub(crate) fn new(rate: f64, prior: f64) -> Self {
        Self { rate, last: vec![1.0], log_weight: prior.ln() }
    }

    pub(crate) fn observe(&mut self, attempt: &JudgedConnection, seen: &SeenConnection, names: &KeyNames) {
        let lost = 1.0 - (-self.rate * attempt.gap).exp();
        self.last.iter_mut().for_each(|it| *it *= 1.0 - lost);
        self.last.push(lost);
        if names.is_late(attempt, seen) {
            self.log_weight += LATE.ln();
            return;
        }
        let named = seen.comparable_key(attempt).zip(names.last);
        let mut evidence = 0.0;
        for (last, probability) in self.last.iter_mut().enumerate() {
            let is_known = attempt.offered.is_some_and(|offered| offered.from + 1 >= last);
            *probability *= likelihood(attempt, seen.outcome, f64::from(u8::from(is_known)), 0.0);
            if let Some((key, _)) = named {
                *probability *= names.likelihood(key, last <= names.last_connection + 1);
            }
            evidence += *probability;
        }
        self.last.iter_mut().for_each(|it| *it /= evidence);
        self.log_weight += evidence.ln();
    }

    /// As of [`crate::one_node::OneNode::predict`].
    pub(crate) fn predict(&self, attempt: &JudgedConnection) -> (f64, f64) {
        let kept = |from: usize| self.last.iter().take(from + 2).sum::<f64>() * (-self.rate * attempt.gap).exp();
        (attempt.offered.map_or(0.0, |offered| kept(offered.from)), 0.0)
    }
}
