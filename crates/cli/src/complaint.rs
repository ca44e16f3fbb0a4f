//! A condition of `--fail-if` that makes a bad answer, in words.

use reprise_model::document::{ConditionOutcome, ConditionRecord};

/// Why it does; `None` where it is not met.
pub(crate) fn complaint(record: &ConditionRecord) -> Option<String> {
    let ConditionRecord { condition, outcome, because } = record;
    match outcome {
        ConditionOutcome::NotMet => None,
        ConditionOutcome::Met => {
            let lines: String = because.iter().map(|it| format!("\n  {it}")).collect();
            Some(format!("--fail-if '{condition}' is met:{lines}"))
        }
        ConditionOutcome::Unknown => Some(format!("--fail-if '{condition}' cannot be evaluated: {}", because.join("; "))),
    }
}

/// Those of all conditions, each on lines of its own; `None` where none is met.
pub(crate) fn complaints(records: &[ConditionRecord]) -> Option<String> {
    let complaints: Vec<String> = records.iter().filter_map(complaint).collect();
    (!complaints.is_empty()).then(|| complaints.join("\n  "))
}
