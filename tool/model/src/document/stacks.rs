//! `reprise.stacks/1`: the TLS libraries that can be compared, and how to get more.

use serde::{Deserialize, Serialize};

use super::{ComparedStack, Provenance};

/// What `reprise stacks` prints as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StacksDocument {
    /// `reprise.stacks/1`.
    pub schema: String,
    /// Those that can be used.
    pub stacks: Vec<ComparedStack>,
    /// Those that were found and cannot.
    pub broken: Vec<BrokenStack>,
    /// Directories that plugins were looked for in.
    pub directories: Vec<String>,
    /// Libraries that a plugin can be built of and that are not there.
    pub available: Vec<AvailableStack>,
    /// Where this comes from.
    pub provenance: Provenance,
}

impl StacksDocument {
    /// The name and version of this document's shape.
    pub const SCHEMA: &'static str = "reprise.stacks/1";
}

/// A stack that cannot be used.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BrokenStack {
    /// Its name.
    pub name: String,
    /// The plugin's file; null where it is built in.
    pub file: Option<String>,
    /// As of a row of `reprise compare` that was skipped: `unsupported`, `broken`, `crashed`, `hung`.
    pub outcome: String,
    /// Why.
    pub reason: String,
}

/// A library that a plugin can be built of.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AvailableStack {
    /// What its plugin will be called.
    pub name: String,
    /// The library's own name, with the version where it is pinned.
    pub library: String,
    /// SPDX.
    pub licence: String,
    /// The commands that build it.
    pub install: String,
    /// Why it is built only when it is named; null where it is not.
    pub named_only: Option<String>,
}
