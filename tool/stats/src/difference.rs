//! By how much one thing takes longer than another.

use crate::bootstrap;
use crate::quantile::{ascending, compare_at, exact_median_of_sorted};

/// A difference of two medians, median(from) − median(to), in the samples' unit: above 0 means that `to` is faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The difference of the two samples' medians.
    pub median: f64,
    /// Bootstrap interval that covers the difference of the true medians in about 95 of 100 cases. `None` when either side has
    /// under six samples.
    pub ci95: Option<[f64; 2]>,
}

/// The difference of the medians of two sets of samples that were taken without regard to one another; they may differ in
/// number. `None` when either is empty. The interval follows from `seed`.
pub fn difference(from: &[u64], to: &[u64], seed: u64) -> Option<Difference> {
    let (from, to) = (ascending(from), ascending(to));
    Some(Difference {
        median: exact_median_of_sorted(&from)? - exact_median_of_sorted(&to)?,
        ci95: bootstrap::independent(from.len(), to.len(), seed, compare_at(|from, to| from - to, &from, &to)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_samples_differ_by_an_interval_around_zero() {
        let samples: Vec<u64> = (0..60).map(|n| 1000 + (n * 37) % 100).collect();
        let found = difference(&samples, &samples, 1);
        let [low, high] = found.and_then(|found| found.ci95).unwrap();
        assert!(low < 0.0 && high > 0.0, "{low}..{high}");
    }

    #[test]
    fn a_difference_is_what_its_samples_allow() {
        let all = difference(&[400; 9], &[100; 9], 1);
        assert_eq!(all, Some(Difference { median: 300.0, ci95: Some([300.0, 300.0]) }), "above zero, `to` is faster");
        assert_eq!(difference(&[6; 9], &[3; 5], 1), Some(Difference { median: 3.0, ci95: None }));
        assert_eq!(difference(&[], &[1], 1), None);
    }
}
