//! What this machine does by itself, measured in the same run as the target.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Statistics;
use crate::{Kind, Phase, Phases};

/// Handshakes with a server of reprise's own inside the measuring process, one after each connection to the target, full and
/// resumed in turns: no network, a fixed amount of work. Between two results of one machine they change as the machine does,
/// and as nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// What that server does: results are comparable where this is the same.
    pub work: String,
    /// Their statistics by kind.
    pub runs: Vec<CalibrationRun>,
    /// Each of them, in the order in which they were made.
    pub samples: Vec<CalibrationSample>,
}

/// The connections of one kind to the server inside the measuring process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalibrationRun {
    /// The kind that was observed.
    pub kind: Kind,
    /// How many there were.
    pub n: u64,
    /// Their statistics by phase.
    pub phases: BTreeMap<Phase, Statistics>,
}

/// One connection to that server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalibrationSample {
    /// How many of the target's counted connections had been made by then.
    pub after: u64,
    /// The kind that was observed.
    pub kind: Kind,
    /// Nanoseconds by phase.
    pub phases: Phases,
}

impl Calibration {
    /// The run of this kind.
    pub fn run(&self, kind: Kind) -> Option<&CalibrationRun> {
        self.runs.iter().find(|run| run.kind == kind)
    }
}
