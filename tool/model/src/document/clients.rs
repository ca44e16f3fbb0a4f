//! `reprise.clients/1`: one target, and what each of several real clients would meet there.

use serde::{Deserialize, Serialize};

use super::{ConditionRecord, MeasureDocument, Provenance, Target};

/// What `measure TARGET --like all` prints as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientsDocument {
    /// `reprise.clients/1`.
    pub schema: String,
    /// What was measured; each result says in whose form it offered.
    pub target: Target,
    /// One document for each client, labelled by its name, interleaved with the others.
    pub results: Vec<MeasureDocument>,
    /// What came of each `--fail-if`, which is of all clients; absent where none was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionRecord>,
    /// Where this comes from.
    pub provenance: Provenance,
}

impl ClientsDocument {
    /// The name and version of this document's shape.
    pub const SCHEMA: &'static str = "reprise.clients/1";
}
