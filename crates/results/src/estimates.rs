//! Figures of documents as estimates with intervals, and back.

use reprise_model::document::Statistics;
use reprise_stats::Ratio;

/// The median of samples.
pub(crate) fn of_statistics(statistics: &Statistics) -> Ratio {
    let ci95 = statistics.ci95_ns.map(|[low, high]| (low as f64, high as f64));
    Ratio { median: statistics.median_ns as f64, ci95 }
}

/// A figure of a document.
pub(crate) fn estimate(median: f64, ci95: Option<[f64; 2]>) -> Ratio {
    Ratio { median, ci95: ci95.map(|[low, high]| (low, high)) }
}

/// An interval, as documents have it.
pub(crate) fn ends(estimate: &Ratio) -> Option<[f64; 2]> {
    estimate.ci95.map(|(low, high)| [low, high])
}
