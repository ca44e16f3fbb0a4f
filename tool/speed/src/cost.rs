//! What one operation costs.

use reprise_model::document::SpeedCost;

/// What one costs, of samples of so many.
pub(crate) fn cost(samples: &[u64], batch: u64, seed: u64) -> Option<SpeedCost> {
    let summary = reprise_stats::summarize(samples, seed)?;
    // A hundredth of a nanosecond is far below what a sample tells.
    let once = |ns: u64| (ns as f64 / batch as f64 * 100.0).round() / 100.0;
    let ci95_ns = summary.ci95.map(|ends| ends.map(once));
    Some(SpeedCost { median_ns: once(summary.median), ci95_ns, min_ns: once(summary.min) })
}
