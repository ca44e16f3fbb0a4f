//! What came of a condition, as documents keep it.

use reprise_trace::document::{ConditionOutcome, ConditionRecord, MeasureDocument};

use super::{Condition, Judgement};

impl Condition {
    /// Holds the condition against results, as [`Condition::judge`] does, in words.
    pub fn record(&self, results: &[MeasureDocument]) -> ConditionRecord {
        let (outcome, because) = match self.judge(results) {
            Judgement::Met(found) => {
                (ConditionOutcome::Met, found.iter().map(|it| format!("{} is {}", it.of, it.shown)).collect())
            }
            Judgement::NotMet => (ConditionOutcome::NotMet, Vec::new()),
            Judgement::Unknown(why) => (ConditionOutcome::Unknown, why),
        };
        ConditionRecord { condition: self.to_string(), outcome, because }
    }
}
