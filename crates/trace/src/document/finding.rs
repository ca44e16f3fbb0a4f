//! What a result means.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Nanos;

/// One thing that a measurement showed, its evidence and its mend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// A fixed slug, `not-offered`.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// One sentence.
    pub title: String,
    /// What was observed that says so.
    pub evidence: Vec<String>,
    /// What it costs each connection; null where unknown.
    pub cost_ns: Option<Nanos>,
    /// What mends it; null where nothing needs to.
    pub remedy: Option<Remedy>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It costs now.
    Fault,
    /// It may cost, or endanger.
    Risk,
    /// Worth knowing.
    Note,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The wire leaves no other reading.
    Certain,
    /// Other readings are unlikely.
    Likely,
    /// One reading of several.
    Possible,
}

/// What mends a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// The software that the directive belongs to; null where it holds for all.
    pub software: Option<String>,
    /// The directive, or what to do.
    pub text: String,
}
