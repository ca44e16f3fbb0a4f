//! What came of a condition, as documents keep it.

use reprise_model::document::{
    CompareDocument, ConditionOutcome, ConditionRecord, DiagnoseDocument, LoadDocument, MeasureDocument,
};

use super::{CompareCondition, Condition, DiagnoseCondition, Judgement, LoadCondition};

impl Condition {
    /// Holds the condition against results, as [`Condition::judge`] does, in words.
    pub fn record(&self, results: &[MeasureDocument]) -> ConditionRecord {
        self.judge(results).record(self.to_string())
    }
}

impl CompareCondition {
    /// Holds the condition against a result, as [`CompareCondition::judge`] does, in words.
    pub fn record(&self, result: &CompareDocument) -> ConditionRecord {
        self.judge(result).record(self.to_string())
    }
}

impl DiagnoseCondition {
    /// Holds the condition against a diagnosis, as [`DiagnoseCondition::judge`] does, in words.
    pub fn record(&self, result: &DiagnoseDocument) -> ConditionRecord {
        self.judge(result).record(self.to_string())
    }
}

impl LoadCondition {
    /// Holds the condition against a result, as [`LoadCondition::judge`] does, in words.
    pub fn record(&self, result: &LoadDocument) -> ConditionRecord {
        self.judge(result).record(self.to_string())
    }
}

impl Judgement {
    fn record(self, condition: String) -> ConditionRecord {
        let (outcome, because) = match self {
            Self::Met(found) => {
                (ConditionOutcome::Met, found.iter().map(|it| format!("{} is {}", it.of, it.shown)).collect())
            }
            Self::NotMet => (ConditionOutcome::NotMet, Vec::new()),
            Self::Unknown(why) => (ConditionOutcome::Unknown, why),
        };
        ConditionRecord { condition, outcome, because }
    }
}
