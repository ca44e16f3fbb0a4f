//! The conditions that a result was held against.

use reprise_model::document::{ConditionOutcome, ConditionRecord};

use crate::page::{Block, Item};
use crate::table::Tone;

/// The part of a page that says what came of them.
pub fn conditions(records: &[ConditionRecord]) -> impl Iterator<Item = Block> {
    records.iter().map(|record| Block::Item(item(record)))
}

fn item(record: &ConditionRecord) -> Item {
    let (label, tone) = match record.outcome {
        ConditionOutcome::Met => ("met", Tone::Fault),
        ConditionOutcome::NotMet => ("not met", Tone::Quiet),
        ConditionOutcome::Unknown => ("unknown", Tone::Warning),
    };
    let text = format!("--fail-if '{}'", record.condition);
    Item { evidence: record.because.clone(), ..Item::new(label, tone, text) }
}
