//! A summary of samples as documents have it.

use reprise_model::document::Statistics;

/// It as documents have it.
pub fn statistics(summary: reprise_stats::Summary) -> Statistics {
    Statistics {
        median_ns: summary.median,
        ci95_ns: summary.ci95,
        mean_ns: summary.mean,
        min_ns: summary.min,
        max_ns: summary.max,
        p90_ns: summary.p90,
        p95_ns: Some(summary.p95),
        p99_ns: summary.p99,
    }
}
