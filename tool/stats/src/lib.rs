//! Statistics of measured samples: quantiles, bootstrap intervals and ratios of medians, and the order to measure in.
//!
//! Samples are `u64`, in nanoseconds wherever this workspace uses them, though nothing here depends on the unit. Every
//! function is pure: no clock, no input or output, and whatever is random follows from the seed that the caller
//! gives, so that a saved result can be computed again to the last digit.
//!
//! No sample is trimmed, clamped or corrected, and what cannot be known is `None`, never 0.
//!
//! ```
//! let full = [520, 540, 515, 533, 610, 527, 525, 519];
//! let resumed = [260, 281, 255, 262, 270, 259, 266, 263];
//!
//! let summary = reprise_stats::summarize(&full, 1).unwrap();
//! assert_eq!((summary.n, summary.median), (8, 526));
//!
//! let saved = reprise_stats::ratio(&full, &resumed, 1).unwrap();
//! assert!(saved.median > 1.9 && saved.median < 2.1);
//! ```
//!
//! `docs/decisions/0003-intervals.md` says how `ci95` is computed and how often it contains the true value.

mod between_runs;
mod bootstrap;
#[cfg(test)]
mod coverage;
mod difference;
mod equality;
mod estimates;
pub mod histogram;
mod line;
mod mean;
mod modes;
mod order;
mod quantile;
mod random;
mod ratio;
mod several;
mod share;
mod summary;

pub use between_runs::{PARTS, RunSpread, Z95, beyond_chance, deviations_of_chance, variance_of_parts};
pub use difference::{Difference, difference};
pub use equality::unequal_pairs;
pub use estimates::ratio_of_estimates;
pub use line::{LeastSquaresLine, Point};
pub use mean::mean_interval;
pub use modes::{STEP_NS, TIMEOUT_NS, UpperMode, upper_mode, upper_mode_of_histograms};
pub use order::balanced_order;
pub use quantile::{median, quantile};
pub use random::{Chance, shuffle};
pub use ratio::{Ratio, paired_ratio, ratio};
pub use several::ratio_to_earlier;
pub use share::wilson;
pub use summary::{Summary, summarize};
