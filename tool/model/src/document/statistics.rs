//! The spread of samples.

use serde::{Deserialize, Serialize};

/// The spread of one phase. All integers, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statistics {
    /// The median.
    pub median_ns: u64,
    /// The bootstrap interval of the median, 95 %; null under six samples, whose whole range covers less.
    pub ci95_ns: Option<[u64; 2]>,
    /// The arithmetic mean.
    pub mean_ns: u64,
    /// The smallest.
    pub min_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// Nine in ten are below.
    pub p90_ns: u64,
    /// Ninety-five in a hundred are below; absent in results of versions that did not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ns: Option<u64>,
    /// Ninety-nine in a hundred are below.
    pub p99_ns: u64,
}
