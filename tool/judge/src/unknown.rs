//! What is random in a way that no hypothesis describes: a rate for each bucket of attempts, every rate as probable as another.
//! It competes with the hypotheses, so what none of them describes is not given to the least bad.

use std::collections::HashMap;

use crate::attempt::{ConnectionOutcome, JudgedConnection, SeenConnection};
use crate::one_node::KeyNames;

/// What the attempts are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Nothing,
    Distance,
    Age,
    Uses,
    Previous,
    TimeSlice,
    Load,
}

impl By {
    pub(crate) const ALL: [Self; 7] =
        [Self::Nothing, Self::Distance, Self::Age, Self::Uses, Self::Previous, Self::TimeSlice, Self::Load];
}

/// Rates for the buckets of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    by: By,
    /// Full handshakes, resumptions and failures in each bucket; of attempts that offer nothing under `None`.
    counts: HashMap<Option<i64>, [f64; 3]>,
    previous: i64,
    /// When connections were made.
    times: Vec<f64>,
    pub(crate) log_weight: f64,
}

/// What is counted beforehand, where a session is offered and where none is.
const OFFERED: [f64; 3] = [0.5, 0.5, 0.1];
const NOT_OFFERED: [f64; 3] = [4.0, 0.0, 0.1];

impl Unknown {
    pub(crate) fn new(by: By, prior: f64) -> Self {
        Self { by, counts: HashMap::new(), previous: 0, times: Vec::new(), log_weight: prior.ln() }
    }

    fn bucket(&self, attempt: &JudgedConnection) -> Option<i64> {
        let offered = attempt.offered?;
        Some(match self.by {
            By::Nothing => 0,
            By::Distance => (attempt.connection - offered.from).min(6) as i64,
            By::Age => (2.0 * offered.age.max(0.02).log2()) as i64,
            By::Uses => offered.used.min(3) as i64,
            By::Previous => self.previous,
            By::TimeSlice => (attempt.at / 0.7) as i64,
            By::Load => {
                let recent = self.times.iter().filter(|time| attempt.at - **time < 1.0).count();
                i64::from((recent + 1).ilog2())
            }
        })
    }

    pub(crate) fn observe(&mut self, attempt: &JudgedConnection, seen: &SeenConnection, names: &KeyNames) {
        let bucket = self.bucket(attempt);
        let before = if bucket.is_some() { OFFERED } else { NOT_OFFERED };
        let counts = self.counts.entry(bucket).or_default();
        let place = place_of(seen.outcome);
        let sum = counts.iter().sum::<f64>() + before.iter().sum::<f64>();
        self.log_weight += ((counts[place] + before[place] + 1e-9) / sum).ln();
        counts[place] += 1.0;
        if let (Some(key), Some(_)) = (seen.comparable_key(attempt), names.last) {
            // A Chinese-restaurant process: a name is as probable as it was frequent, a new one as if it had been seen once.
            let all: usize = names.counts.values().sum();
            self.log_weight += (names.counts.get(&key).copied().unwrap_or(1) as f64 / (all + 1) as f64).ln();
        }
        if bucket.is_some() {
            self.previous = place as i64;
        }
        self.times.push(attempt.at);
    }

    /// As of [`crate::one_node::OneNode::predict`].
    pub(crate) fn predict(&self, attempt: &JudgedConnection) -> (f64, f64) {
        let bucket = self.bucket(attempt);
        let counts = self.counts.get(&bucket).copied().unwrap_or_default();
        let sum = counts.iter().sum::<f64>() + 1.1;
        let cautious = if bucket.is_none() { 3.0 } else { 0.0 };
        ((counts[1] + 0.5) / sum, (counts[2] + 0.1) / (sum + cautious))
    }
}

/// The place of an outcome in the counts.
fn place_of(outcome: ConnectionOutcome) -> usize {
    match outcome {
        ConnectionOutcome::Full => 0,
        ConnectionOutcome::Resumed => 1,
        ConnectionOutcome::Failed | ConnectionOutcome::Broken => 2,
    }
}
