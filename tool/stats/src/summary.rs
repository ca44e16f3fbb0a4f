//! What a set of samples comes to.

use crate::bootstrap;
use crate::quantile::{ascending, median_of_sorted, rounded_quantile, value_at};

/// The figures that describe a set of samples, all in the samples' unit, each rounded to the nearest integer, halves up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many samples there were.
    pub n: usize,
    /// As [`crate::median()`].
    pub median: u64,
    /// Bootstrap interval that covers the true median in about 95 of 100 cases, rounded outwards. `None` under six
    /// samples, which admit no such interval.
    pub ci95: Option<[u64; 2]>,
    /// Arithmetic mean.
    pub mean: u64,
    /// Least sample.
    pub min: u64,
    /// Greatest sample.
    pub max: u64,
    /// As [`crate::quantile()`] at 0.9.
    pub p90: u64,
    /// As [`crate::quantile()`] at 0.95.
    pub p95: u64,
    /// As [`crate::quantile()`] at 0.99. Under a hundred samples it lies between the greatest two.
    pub p99: u64,
}

/// Sums up `samples`, in any order. `None` when there are none.
///
/// The interval follows from `seed`, its sampling error included: about 0.2 % in coverage. It takes the samples as
/// independent draws from one distribution; it knows nothing of a machine that slows down while they are taken.
pub fn summarize(samples: &[u64], seed: u64) -> Option<Summary> {
    let sorted = ascending(samples);
    Some(Summary {
        n: sorted.len(),
        median: median_of_sorted(&sorted)?,
        ci95: interval(&sorted, seed),
        mean: mean(&sorted)?,
        min: *sorted.first()?,
        max: *sorted.last()?,
        p90: rounded_quantile(&sorted, 0.9)?,
        p95: rounded_quantile(&sorted, 0.95)?,
        p99: rounded_quantile(&sorted, 0.99)?,
    })
}

fn interval(sorted: &[u64], seed: u64) -> Option<[u64; 2]> {
    let [low, high] = bootstrap::median_positions(sorted.len(), seed)?;
    Some([value_at(sorted, low, f64::floor)?, value_at(sorted, high, f64::ceil)?])
}

fn mean(samples: &[u64]) -> Option<u64> {
    let n = samples.len() as u128;
    let sum: u128 = samples.iter().copied().map(u128::from).sum();
    u64::try_from((sum + n / 2).checked_div(n)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_or_equal_samples_have_a_plain_summary() {
        assert_eq!(summarize(&[], 1), None);
        let one = Summary { n: 1, median: 9, ci95: None, mean: 9, min: 9, max: 9, p90: 9, p95: 9, p99: 9 };
        assert_eq!(summarize(&[9], 1), Some(one));
        let equal = summarize(&[u64::MAX; 50], 1).unwrap();
        assert_eq!((equal.ci95, equal.mean), (Some([u64::MAX, u64::MAX]), u64::MAX));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        #[test]
        fn figures_stand_in_order(samples in prop::collection::vec(any::<u64>(), 1..80), seed: u64) {
            let summary = summarize(&samples, seed).unwrap();
            let [low, high] = summary.ci95.unwrap_or([summary.median; 2]);
            let ascending = [summary.min, low, summary.median, high, summary.max];
            prop_assert!(ascending.is_sorted(), "{summary:?}");
            prop_assert!([summary.median, summary.p90, summary.p99, summary.max].is_sorted(), "{summary:?}");
            prop_assert!(summary.min <= summary.mean && summary.mean <= summary.max, "{summary:?}");
            prop_assert_eq!(summary.ci95.is_some(), samples.len() >= 6);
        }

        #[test]
        fn neither_order_nor_repetition_matters(mut samples in prop::collection::vec(any::<u64>(), 1..80), seed: u64) {
            let first = summarize(&samples, seed);
            prop_assert_eq!(first, summarize(&samples, seed));
            samples.reverse();
            prop_assert_eq!(first, summarize(&samples, seed));
        }

        #[test]
        fn figures_move_with_the_samples(samples in prop::collection::vec(0_u64..1 << 40, 6..80), by in 0_u64..1 << 40) {
            let moved: Vec<u64> = samples.iter().map(|sample| sample + by).collect();
            let (before, after) = (summarize(&samples, 1).unwrap(), summarize(&moved, 1).unwrap());
            prop_assert_eq!(before.median + by, after.median);
            prop_assert_eq!(before.mean + by, after.mean);
            prop_assert_eq!(before.ci95.map(|ends| ends.map(|end| end + by)), after.ci95);
        }
    }
}
