//! Figures of documents as estimates with intervals.

use reprise_model::document::Statistics;
use reprise_stats::Ratio;

/// The median of samples.
pub(crate) fn of_statistics(statistics: &Statistics) -> Ratio {
    let ci95 = statistics.ci95_ns.map(|ends| ends.map(|end| end as f64));
    Ratio { median: statistics.median_ns as f64, ci95 }
}
