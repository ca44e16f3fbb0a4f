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

/// One figure of a spread. A new one is a field of [`Statistics`], an entry here, and where loads have it an entry in
/// [`LoadLatency`](super::LoadLatency): columns and conditions follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The median.
    Median,
    /// The arithmetic mean.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Nine in ten are below.
    P90,
    /// Ninety-five in a hundred are below.
    P95,
    /// Ninety-nine in a hundred are below.
    P99,
}

impl Statistic {
    /// Every one, in the order of columns and of lists.
    pub const ALL: [Self; 7] = [Self::Median, Self::Mean, Self::Min, Self::Max, Self::P90, Self::P95, Self::P99];

    /// What columns, conditions and tables call it: `median`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Max => "max",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
        }
    }

    /// Its value, in nanoseconds; `None` in results of versions that did not say so.
    pub fn of(self, statistics: &Statistics) -> Option<u64> {
        match self {
            Self::Median => Some(statistics.median_ns),
            Self::Mean => Some(statistics.mean_ns),
            Self::Min => Some(statistics.min_ns),
            Self::Max => Some(statistics.max_ns),
            Self::P90 => Some(statistics.p90_ns),
            Self::P95 => statistics.p95_ns,
            Self::P99 => Some(statistics.p99_ns),
        }
    }

    /// The part of the samples that are not above it, 0 to 1; `None` of the mean.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Self::Min => Some(0.0),
            Self::Median => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            Self::Max => Some(1.0),
            Self::Mean => None,
        }
    }
}
