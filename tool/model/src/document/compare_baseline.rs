//! What is other than in an earlier result of `reprise compare`.

use serde::{Deserialize, Serialize};

use super::{Change, CompareCase, CompareInstructions, CompareRatio, CompareSide, Provenance, Statistics};

/// A comparison against one or several earlier ones. They were measured one after the other and not in turns: what the machine
/// changed by is part of every change. A stack that is the same in both tells how much that is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareBaseline {
    /// The files, the newest last.
    pub files: Vec<String>,
    /// Where the newest comes from.
    pub provenance: Provenance,
    /// The stacks that are not the same as in the newest.
    pub stacks: Vec<StackChange>,
    /// Every figure that all have.
    pub changes: Vec<CompareChange>,
    /// Every ratio of two handshakes of one pair that all have.
    pub ratios: Vec<CompareRatioChange>,
    /// Instructions, where all have counted them.
    pub instructions: Vec<CompareInstructionsChange>,
    /// What was measured before and is not now, `mine 1.3 ticket p-256 x25519`.
    pub missing: Vec<String>,
    /// Why they may not be comparable.
    pub warnings: Vec<String>,
}

/// A stack that is not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StackChange {
    /// Its name.
    pub name: String,
    /// What it was: the version, and of a plugin the begin of its hash.
    pub before: String,
    /// What it is.
    pub after: String,
}

/// One figure, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareChange {
    /// The client's stack.
    pub client: String,
    /// The server's.
    pub server: String,
    /// The handshake.
    #[serde(flatten)]
    pub case: CompareCase,
    /// Which figure.
    pub side: CompareSide,
    /// The median before; of several the geometric mean.
    pub before_ns: u64,
    /// In this result.
    pub after: Statistics,
    /// After by before: above 1 means slower.
    pub ratio: f64,
    /// Its interval, 95 %; null under six samples on either side.
    pub ci95: Option<[f64; 2]>,
    /// What that comes to.
    pub change: Change,
    /// What is left when a stack that is the same in both has taken off what it changed by; null where there is none.
    pub own: Option<CompareOwn>,
}

/// A change beside that of a stack which did not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareOwn {
    /// That stack.
    pub beside: String,
    /// The ratio of both changes.
    pub ratio: f64,
    /// Its interval, 95 %.
    pub ci95: Option<[f64; 2]>,
    /// What that comes to.
    pub change: Change,
}

/// The ratio of two handshakes of one pair, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareRatioChange {
    /// As it is now.
    pub now: CompareRatio,
    /// As it was; of several the geometric mean.
    pub before: f64,
    /// Now by before: below 1 means that the second handshake has become dearer beside the first.
    pub ratio: f64,
    /// Its interval, 95 %.
    pub ci95: Option<[f64; 2]>,
}

/// Instructions of one connection, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareInstructionsChange {
    /// The client's stack.
    pub client: String,
    /// The server's.
    pub server: String,
    /// The handshake.
    #[serde(flatten)]
    pub case: CompareCase,
    /// In the newest of the earlier results.
    pub before: CompareInstructions,
    /// In this one.
    pub after: CompareInstructions,
}

impl CompareChange {
    /// What is to be judged: beside a stack that is the same, where there is one.
    pub fn judged(&self) -> (f64, Option<[f64; 2]>, Change) {
        match &self.own {
            Some(own) => (own.ratio, own.ci95, own.change),
            None => (self.ratio, self.ci95, self.change),
        }
    }
}
