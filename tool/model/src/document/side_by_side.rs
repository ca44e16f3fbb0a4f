//! `reprise.side-by-side/1`: several results of one command, each figure in a row.

use serde::{Deserialize, Serialize};

use super::{Provenance, Target};
use crate::{Kind, Phase, Version};

/// What `report FILE FILE…` prints as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideBySideDocument {
    /// `reprise.side-by-side/1`.
    pub schema: String,
    /// The schema of the results, `reprise.measure/1` or `reprise.load/1`.
    pub of: String,
    /// The results, in the order in which they were named. All others are held against the first.
    pub results: Vec<SideBySideResult>,
    /// What is not the same in all of them, beside the figures.
    pub differences: Vec<SideBySideDifference>,
    /// The figures.
    pub rows: Vec<SideBySideRow>,
    /// Things the reader should know before believing the figures.
    pub warnings: Vec<String>,
}

impl SideBySideDocument {
    /// The name and version of this document's shape.
    pub const SCHEMA: &'static str = "reprise.side-by-side/1";
}

/// One of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideBySideResult {
    /// The head of its column: its file's name, shortened.
    pub label: String,
    /// Its file, as it was named.
    pub file: String,
    /// What was measured.
    pub target: Target,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// What is not the same in all results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideBySideDifference {
    /// What.
    pub what: String,
    /// Of each result; null where it does not say.
    pub values: Vec<Option<String>>,
}

/// One figure of each result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideBySideRow {
    /// The version.
    pub tls: Version,
    /// The kind of handshake; null for all kinds together.
    pub kind: Option<Kind>,
    /// The phase; null where the figure is of none.
    pub phase: Option<Phase>,
    /// What of it: `median`, `p99`, `rate`, `client_cpu`, …, by the names of conditions.
    pub figure: String,
    /// What its values are in.
    pub unit: SideBySideUnit,
    /// Of each result; null where it has no such figure.
    pub values: Vec<Option<SideBySideValue>>,
}

named! {
    /// What a figure is in.
    pub enum SideBySideUnit {
        /// Nanoseconds.
        Ns = "ns",
        /// So many a second.
        EachSecond = "each_second",
        /// Bytes.
        Bytes = "bytes",
        /// So many.
        Count = "count",
    }
}

impl SideBySideUnit {
    /// Whether more of it is better; unknown of a count.
    pub fn more_is_better(self) -> Option<bool> {
        match self {
            Self::Ns | Self::Bytes => Some(false),
            Self::EachSecond => Some(true),
            Self::Count => None,
        }
    }
}

/// A figure of one result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideBySideValue {
    /// The figure.
    pub value: f64,
    /// Its 95 % interval; null where there is none.
    pub ci95: Option<[f64; 2]>,
    /// How many times that of the first result it is; null for the first itself, and where it is no number.
    pub ratio: Option<f64>,
    /// The interval of that ratio, for samples that were taken without regard to one another; null where there is none.
    pub ratio_ci95: Option<[f64; 2]>,
}
