//! `reprise.lab/1`: the embedded lab, one measurement per server.

use serde::{Deserialize, Serialize};

use super::{ConditionRecord, MeasureDocument, Provenance};

/// What `measure` without a target prints as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabDocument {
    /// `reprise.lab/1`.
    pub schema: String,
    /// One document per server, labelled `rsa-2048/off`, `rsa-2048/id`, `rsa-2048/ticket`, `p-256/off`, …
    pub results: Vec<MeasureDocument>,
    /// What came of each `--fail-if`, which is of all servers; absent where none was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionRecord>,
    /// Where this comes from.
    pub provenance: Provenance,
}

impl LabDocument {
    /// The name and version of this document's shape.
    pub const SCHEMA: &'static str = "reprise.lab/1";
}
