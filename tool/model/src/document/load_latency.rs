//! The spread of a latency of a load.

use serde::{Deserialize, Serialize};

use super::statistics::Statistic;

/// The spread of a latency, in nanoseconds, true to three digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadLatency {
    /// Half are below.
    pub p50: u64,
    /// Nine in ten.
    pub p90: u64,
    /// Ninety-five in a hundred; null in results of versions that did not say so.
    #[serde(default)]
    pub p95: Option<u64>,
    /// Ninety-nine in a hundred.
    pub p99: u64,
    /// All but one in a thousand.
    pub p999: u64,
    /// The largest.
    pub max: u64,
}

impl LoadLatency {
    /// How to read a statistic of it, in nanoseconds; `None` of one that a load does not have.
    pub fn reading(statistic: Statistic) -> Option<fn(&Self) -> Option<u64>> {
        match statistic {
            Statistic::Median => Some(|it| Some(it.p50)),
            Statistic::P90 => Some(|it| Some(it.p90)),
            Statistic::P95 => Some(|it| it.p95),
            Statistic::P99 => Some(|it| Some(it.p99)),
            Statistic::Max => Some(|it| Some(it.max)),
            Statistic::Mean | Statistic::Min => None,
        }
    }
}
