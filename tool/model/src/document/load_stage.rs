//! One stage of a load whose rate changes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::LoadLatency;
use crate::Kind;

/// A time in which an open loop had one rate. Connections belong to the stage in which they were due, whenever they ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadStage {
    /// Connections each second that were asked for.
    pub rate: f64,
    /// How long it was to last.
    pub duration_ns: u64,
    /// How long it lasted; 0 where the load was cut short before it.
    pub seconds: f64,
    /// Connections that were due: those that completed, failed, and were not started.
    pub offered: u64,
    /// Those that completed, by the kind that was observed.
    pub completed: BTreeMap<Kind, u64>,
    /// Those that failed.
    pub failed: u64,
    /// Those that never began, because every place was taken.
    pub not_started: u64,
    /// The share of the completed ones that resumed a session, 0 to 1; null where none completed.
    pub resumed: Option<f64>,
    /// From the time at which a connection was to begin until it was done; null where none completed, and in merged results.
    pub latency_from_intended_ns: Option<LoadLatency>,
    /// The processor time that the server used from the beginning of this stage to its end; null where the server was not named.
    pub server_cpu_ns: Option<u64>,
}

impl LoadStage {
    /// Of every kind.
    pub fn total_completed(&self) -> u64 {
        self.completed.values().copied().fold(0, u64::saturating_add)
    }

    /// The share of the completed ones that resumed a session; `None` where none completed.
    pub fn resumed_share(&self) -> Option<f64> {
        let resumed = self.completed.iter().filter(|(kind, _)| kind.is_resumption());
        let resumed = resumed.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
        (self.total_completed() > 0).then(|| resumed as f64 / self.total_completed() as f64)
    }

    /// How many processors the server used on average; `None` where that is not known.
    pub fn server_processors(&self) -> Option<f64> {
        let used = self.server_cpu_ns.filter(|_| self.seconds > 0.0)?;
        Some(used as f64 / 1e9 / self.seconds)
    }
}
