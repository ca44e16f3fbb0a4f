//! What came of the conditions that a result was held against.

use serde::{Deserialize, Serialize};

/// One condition of `--fail-if`, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConditionRecord {
    /// As it was written, `1.3.ticket.tls.p99 > 20ms`.
    pub condition: String,
    /// Whether it is met.
    pub outcome: ConditionOutcome,
    /// The figures that meet it, or why it cannot be told, each in words; empty where it is not met.
    pub because: Vec<String>,
}

named! {
    /// Whether a condition is met.
    pub enum ConditionOutcome {
        /// It is, by at least one figure.
        Met = "met",
        /// There are such figures, and none meets it.
        NotMet = "not_met",
        /// It cannot be told.
        Unknown = "unknown",
    }
}
