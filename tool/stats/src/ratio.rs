//! How many times faster one thing is than another.

use crate::bootstrap;
use crate::quantile::{ascending, compare_at, exact_median_of_sorted};

/// A ratio of two medians, median(from) / median(to): above 1 means that `to` is faster. It has no unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio of the two samples' medians.
    pub median: f64,
    /// Bootstrap interval that covers the ratio of the true medians in about 95 of 100 cases, or somewhat more: 96 at a
    /// hundred samples a side, 97 at twenty, and up to 99 where paired samples go together closely. `None` when either side
    /// has under six samples, or when its median may well be 0, so that no bound can be named.
    pub ci95: Option<[f64; 2]>,
}

/// The ratio of the medians of two sets of samples that were taken without regard to one another; they may differ in
/// number. `None` when either is empty or when the median of `to` is 0. The interval follows from `seed`.
///
/// Where the samples were taken in rounds, one of each, [`paired_ratio`] gives the better interval.
pub fn ratio(from: &[u64], to: &[u64], seed: u64) -> Option<Ratio> {
    let (from, to) = (ascending(from), ascending(to));
    let interval = bootstrap::independent(from.len(), to.len(), seed, compare_at(|from, to| from / to, &from, &to));
    of_sorted(&from, &to, interval)
}

/// As [`ratio`], for samples that were taken interleaved: each round holds one of `from` and one of `to`, in this order.
///
/// What slows down a round as a whole moves both medians alike and cancels out of their ratio; the interval knows that,
/// and is the narrower the more the two went together.
pub fn paired_ratio(rounds: &[(u64, u64)], seed: u64) -> Option<Ratio> {
    let (from, to): (Vec<u64>, Vec<u64>) = rounds.iter().copied().unzip();
    let agreeing = in_lower_half(&from).zip(in_lower_half(&to)).filter(|(from, to)| from == to).count();
    let (from, to) = (ascending(&from), ascending(&to));
    let interval = bootstrap::paired(rounds.len(), agreeing, seed, compare_at(|from, to| from / to, &from, &to));
    of_sorted(&from, &to, interval)
}

fn of_sorted(from: &[u64], to: &[u64], interval: Option<[f64; 2]>) -> Option<Ratio> {
    let median = exact_median_of_sorted(from)? / exact_median_of_sorted(to)?;
    let ci95 = interval.filter(|[low, high]| low.is_finite() && high.is_finite());
    median.is_finite().then_some(Ratio { median, ci95 })
}

/// For each sample in turn, whether it ranks in the lower half. Equal samples rank in the order they came.
fn in_lower_half(samples: &[u64]) -> impl Iterator<Item = bool> {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by_key(|&index| samples.get(index));
    let mut lower = vec![false; samples.len()];
    for index in order.into_iter().take(samples.len() / 2) {
        if let Some(is_lower) = lower.get_mut(index) {
            *is_lower = true;
        }
    }
    lower.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_ratio_is_what_its_samples_allow() {
        let may_be_zero = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1];
        let known = |median, ci95| Some(Ratio { median, ci95 });
        type Case<'a> = (&'a [u64], &'a [u64], Option<Ratio>, &'a str);
        let cases: [Case<'_>; 7] = [
            (&[400; 9], &[100; 9], known(4.0, Some([4.0, 4.0])), "above one means that `to` is faster"),
            (&[], &[1], None, "nothing has no ratio"),
            (&[1], &[], None, "nor to nothing"),
            (&[5; 10], &[0; 10], None, "a ratio to zero is unknown"),
            (&[0; 10], &[0; 10], None, "of zero too"),
            (&[5; 10], &may_be_zero, known(5.0, None), "a median that may be zero leaves no bound"),
            (&[6; 100], &[3; 5], known(2.0, None), "few samples have no interval"),
        ];
        for (from, to, expected, why) in cases {
            assert_eq!(ratio(from, to, 1), expected, "{why}");
        }
        assert_eq!(paired_ratio(&[], 1), None);
        assert_eq!(paired_ratio(&[(6, 3); 5], 1), known(2.0, None));
    }

    #[test]
    fn halves_are_ranked_however_many_samples_are_equal() {
        let lower = |samples: &[u64]| in_lower_half(samples).collect::<Vec<_>>();
        assert_eq!(lower(&[3, 1, 2, 4]), [false, true, true, false]);
        assert_eq!(lower(&[7, 7, 7]), [true, false, false]);
    }

    #[test]
    fn drift_common_to_a_round_cancels_out() {
        let rounds: Vec<(u64, u64)> = (0..100).map(|round| (3000 + 300 * round, 1000 + 100 * round)).collect();
        let [low, high] = paired_ratio(&rounds, 1).unwrap().ci95.unwrap();
        assert!((low - 3.0).abs() < 1e-12 && (high - 3.0).abs() < 1e-12, "{low}..{high}");

        let (from, to): (Vec<u64>, Vec<u64>) = rounds.into_iter().unzip();
        let [low, high] = ratio(&from, &to, 1).unwrap().ci95.unwrap();
        assert!(low < 2.7 && high > 3.3, "without the rounds the drift is seen as spread: {low}..{high}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        #[test]
        fn the_interval_encloses_the_ratio(rounds in prop::collection::vec((any::<u64>(), 1..u64::MAX), 6..80), seed: u64) {
            let (from, to): (Vec<u64>, Vec<u64>) = rounds.iter().copied().unzip();
            for found in [paired_ratio(&rounds, seed).unwrap(), ratio(&from, &to, seed).unwrap()] {
                let [low, high] = found.ci95.unwrap();
                prop_assert!(low <= found.median && found.median <= high, "{found:?}");
            }
        }

        #[test]
        fn a_seed_repeats_itself(rounds in prop::collection::vec((any::<u64>(), any::<u64>()), 0..40), seed: u64) {
            prop_assert_eq!(paired_ratio(&rounds, seed), paired_ratio(&rounds, seed));
        }
    }
}
