//! When a result is a bad answer: `--fail-if`, the same for every command.

use anyhow::anyhow;
use clap::Args;
use reprise_model::document::{ConditionOutcome, ConditionRecord};
use reprise_results::{Condition, Judged, PlannedFigures};

/// The flag that names conditions.
#[derive(Args, Clone)]
#[command(next_help_heading = "Gate")]
pub(crate) struct ConditionArgs {
    /// Exit with 1 if this condition is met or cannot be evaluated; repeatable. A figure is named by its path in the JSON:
    /// '.seconds > 60'
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
}

/// The conditions that a document will be held against.
pub(crate) struct Gate(Vec<Condition>);

impl Gate {
    /// Reads the conditions; refuses those that the planned document cannot answer.
    pub(crate) fn open(arguments: &ConditionArgs, plan: &dyn PlannedFigures) -> anyhow::Result<Self> {
        let read = |text: &String| Condition::read(text, plan).map_err(|error| anyhow!("--fail-if: {error}"));
        Ok(Self(arguments.fail_if.iter().map(read).collect::<anyhow::Result<_>>()?))
    }

    /// What came of each condition.
    pub(crate) fn judge(&self, document: &impl Judged) -> Vec<ConditionRecord> {
        self.0.iter().map(|condition| condition.record(document)).collect()
    }
}

/// Why a condition makes a bad answer; `None` where it is not met.
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

/// Why conditions make a bad answer, each on lines of its own; `None` where none is met.
pub(crate) fn complaints(records: &[ConditionRecord]) -> Option<String> {
    let complaints: Vec<String> = records.iter().filter_map(complaint).collect();
    (!complaints.is_empty()).then(|| complaints.join("\n  "))
}
