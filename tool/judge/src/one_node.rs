//! Hypotheses of one node: nothing in them is hidden but which of them is true.

use crate::attempt::{ConnectionOutcome, JudgedConnection, SeenConnection, key_likelihood, likelihood};
use crate::hypothesis::Hypothesis;
use crate::memory::logistic;

/// One hypothesis and how probable it has become.
#[derive(Clone, Debug)]
pub(crate) struct OneNode {
    hypothesis: Hypothesis,
    /// Tokens of the rate limit that are left.
    tokens: f64,
    pub(crate) log_weight: f64,
}

/// Key names as they were seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyNames {
    /// The last, and when.
    pub(crate) last: Option<(u32, f64)>,
    /// The connection that had it.
    pub(crate) last_connection: usize,
    /// When the last was seen for the first time, and the name before it.
    since: f64,
    before: Option<u32>,
    /// How often each was seen.
    pub(crate) counts: std::collections::HashMap<u32, usize>,
    /// Whether a connection was answered before any name was seen.
    pub(crate) are_hidden: bool,
}

/// Seconds for which a process that was told to end may still answer, beside the one that follows it.
const OVERLAP: f64 = 0.5;

/// How probable it is that it does.
pub(crate) const LATE: f64 = 0.1;

impl KeyNames {
    /// Whether a process that was replaced has answered once more: the name before the last, soon after the last came up.
    pub(crate) fn is_late(&self, attempt: &JudgedConnection, seen: &SeenConnection) -> bool {
        let key = seen.comparable_key(attempt);
        key.is_some() && key == self.before && attempt.at - self.since < OVERLAP
    }

    /// Keeps what this connection named. What comes late leaves the last as it is.
    pub(crate) fn note(&mut self, attempt: &JudgedConnection, seen: &SeenConnection) {
        let is_late = self.is_late(attempt, seen);
        let Some(key) = seen.comparable_key(attempt) else { return };
        *self.counts.entry(key).or_default() += 1;
        if is_late {
            return;
        }
        if let Some((last, _)) = self.last.filter(|(last, _)| *last != key) {
            (self.before, self.since) = (Some(last), attempt.at);
        }
        self.last = Some((key, attempt.at));
        self.last_connection = attempt.connection;
    }

    /// The probability of this name where the key is the one that was named last, or another one, whose name was never seen.
    pub(crate) fn likelihood(&self, key: u32, is_last: bool) -> f64 {
        let is_expected =
            if is_last { self.last.is_some_and(|(last, _)| last == key) } else { !self.counts.contains_key(&key) };
        key_likelihood(is_expected)
    }
}

impl OneNode {
    pub(crate) fn new(hypothesis: Hypothesis) -> Self {
        let tokens = hypothesis.limit.map_or(0.0, |limit| limit.burst);
        Self { log_weight: hypothesis.prior.ln(), tokens, hypothesis }
    }

    pub(crate) fn hypothesis(&self) -> &Hypothesis {
        &self.hypothesis
    }

    pub(crate) fn observe(&mut self, attempt: &JudgedConnection, seen: &SeenConnection, names: &KeyNames) {
        let (resumed, failed) = self.predict(attempt);
        let failed = match seen.outcome {
            ConnectionOutcome::Broken => self.broken(attempt),
            _ => failed,
        };
        self.log_weight += likelihood(attempt, seen.outcome, resumed, failed).ln();
        if let Some(limit) = self.hypothesis.limit {
            let taken = if seen.outcome.is_failure() { 0.0 } else { 1.0 };
            self.tokens = ((self.tokens + limit.a_second * attempt.gap).min(limit.burst) - taken).max(0.0);
        }
        self.observe_key(attempt, seen, names);
    }

    fn observe_key(&mut self, attempt: &JudgedConnection, seen: &SeenConnection, names: &KeyNames) {
        if self.hypothesis.has_fresh_keys && names.are_hidden && names.last.is_none() {
            // Nothing tells a key for each connection from no acceptance at all.
            self.log_weight = f64::NEG_INFINITY;
        }
        if let Some(key) = seen.comparable_key(attempt).filter(|_| names.last.is_some()) {
            self.log_weight += names.likelihood(key, !self.hypothesis.has_fresh_keys).ln();
        }
    }

    /// The probability that the session is resumed unless the connection fails, and that it fails.
    pub(crate) fn predict(&self, attempt: &JudgedConnection) -> (f64, f64) {
        let known = attempt.offered.map_or(0.0, |offered| self.hypothesis.memory.knows(attempt, &offered));
        match (self.hypothesis.limit, self.hypothesis.breaking.zip(attempt.offered)) {
            (Some(limit), _) => {
                let tokens = (self.tokens + limit.a_second * attempt.gap).min(limit.burst);
                (known, logistic(-(tokens - 0.85) * 12.0))
            }
            (None, Some((breaking, offered))) => {
                let failing = breaking.failing(&offered, known);
                (breaking.resumed(known, failing), failing)
            }
            (None, None) => (known, 0.0),
        }
    }

    /// The probability that the session is accepted and the connection fails.
    fn broken(&self, attempt: &JudgedConnection) -> f64 {
        let Some((breaking, offered)) = self.hypothesis.breaking.zip(attempt.offered) else { return 0.0 };
        let known = self.hypothesis.memory.knows(attempt, &offered);
        breaking.failing_so(&offered, known, ConnectionOutcome::Broken)
    }
}
