//! Quantiles of a sample, and values between two of its members.

/// The `q` quantile of `sorted`, in the unit of the samples, by linear interpolation between the two nearest order
/// statistics at the zero-based position `(n - 1) q`.
///
/// This is definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50
/// (1996) 361–365: the default of R, NumPy and most spreadsheets, so that figures can be compared with theirs.
///
/// `sorted` must ascend; otherwise the answer means nothing. `None` when it is empty or when `q` is not within 0..=1.
/// Beyond 2^53 (104 days, in nanoseconds) the answer is rounded to the nearest `f64`.
pub fn quantile(sorted: &[u64], q: f64) -> Option<f64> {
    exact_value_at(sorted, type_7_position(sorted, q)?)
}

/// The median of `samples`, in their unit and in any order; the mean of the middle two when they are even in number,
/// rounded to the nearest integer, halves up. `None` when there are none.
pub fn median(samples: &[u64]) -> Option<u64> {
    median_of_sorted(&ascending(samples))
}

/// A copy of `samples`, ascending.
pub(crate) fn ascending(samples: &[u64]) -> Vec<u64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted
}

/// As [`median`], exact over the whole range of `u64`.
pub(crate) fn median_of_sorted(sorted: &[u64]) -> Option<u64> {
    let above = *sorted.get(sorted.len() / 2)?;
    let below = *sorted.get((sorted.len() - 1) / 2)?;
    Some(below + (above - below).div_ceil(2))
}

/// As [`median`], without rounding: what ratios are made of.
pub(crate) fn exact_median_of_sorted(sorted: &[u64]) -> Option<f64> {
    quantile(sorted, 0.5)
}

/// As [`quantile`], rounded to the nearest integer, halves up.
pub(crate) fn rounded_quantile(sorted: &[u64], q: f64) -> Option<u64> {
    value_at(sorted, type_7_position(sorted, q)?, f64::round)
}

/// The value at the zero-based, fractional `position` among the order statistics.
pub(crate) fn exact_value_at(sorted: &[u64], position: f64) -> Option<f64> {
    let (below, above, fraction) = neighbours(sorted, position)?;
    Some(below as f64 + fraction * (above - below) as f64)
}

/// What `compare` says of the values of two sorted sets at these positions; no number where one has no such position.
pub(crate) fn compare_at(compare: impl Fn(f64, f64) -> f64, from: &[u64], to: &[u64]) -> impl Fn(f64, f64) -> f64 {
    move |at_from, at_to| match (exact_value_at(from, at_from), exact_value_at(to, at_to)) {
        (Some(from), Some(to)) => compare(from, to),
        _ => f64::NAN,
    }
}

/// As [`exact_value_at`], its fraction of a unit brought to an integer by `rounding`. It never leaves the two order
/// statistics around it, whatever the precision of `f64`.
pub(crate) fn value_at(sorted: &[u64], position: f64, rounding: fn(f64) -> f64) -> Option<u64> {
    let (below, above, fraction) = neighbours(sorted, position)?;
    let step = rounding(fraction * (above - below) as f64) as u64;
    Some(below + step.min(above - below))
}

fn type_7_position(sorted: &[u64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    (0.0..=1.0).contains(&q).then_some(last as f64 * q)
}

/// The order statistics around `position`, and how far it lies from the first to the second, in 0..1.
fn neighbours(sorted: &[u64], position: f64) -> Option<(u64, u64, f64)> {
    let below = *sorted.get(position as usize)?;
    let above = *sorted.get(position as usize + 1).unwrap_or(&below);
    Some((below, above.max(below), position.fract()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hyndman–Fan type 7 by NumPy 2.4.6:
    /// `numpy.quantile([15, 20, 35, 40, 50, 71, 90, 102, 220, 1000], q, method="linear")`
    #[test]
    fn quantiles_equal_numpys() {
        let sorted = [15, 20, 35, 40, 50, 71, 90, 102, 220, 1000];
        let qs = [0.0, 0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975, 0.99, 1.0];
        let expected = [15.0, 16.125, 19.5, 36.25, 60.5, 99.0, 298.0, 824.5, 929.8, 1000.0];
        for (q, expected) in qs.into_iter().zip(expected) {
            let found = quantile(&sorted, q).unwrap();
            assert!((found - expected).abs() < 1e-9, "q = {q}: {found} is not {expected}");
        }
    }

    #[test]
    fn a_quantile_outside_the_samples_is_none() {
        assert_eq!((quantile(&[], 0.5), median(&[])), (None, None));
        assert!([-0.1, 1.1, f64::NAN, f64::INFINITY].iter().all(|q| quantile(&[1, 2, 3], *q).is_none()));
        assert!([0.0, 0.3, 1.0].iter().all(|q| quantile(&[7], *q) == Some(7.0)));
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(&[4, 1, 3, 2]), Some(3), "2.5 is rounded up");
        assert_eq!(median(&[10, 0]), Some(5));
        assert_eq!(median(&[u64::MAX, u64::MAX]), Some(u64::MAX));
        assert_eq!(median(&[0, u64::MAX]), Some(1 << 63));
    }

    proptest! {
        #[test]
        fn values_stay_between_their_neighbours(mut samples in prop::collection::vec(any::<u64>(), 1..50), q in 0.0..=1.0) {
            samples.sort_unstable();
            let position = type_7_position(&samples, q).unwrap();
            let (below, above, _) = neighbours(&samples, position).unwrap();
            for rounding in [f64::floor, f64::round, f64::ceil] {
                let value = value_at(&samples, position, rounding).unwrap();
                prop_assert!(below <= value && value <= above);
            }
        }

        #[test]
        fn the_median_has_half_on_either_side(samples in prop::collection::vec(any::<u64>(), 1..50)) {
            let median = median(&samples).unwrap();
            let below = samples.iter().filter(|&&sample| sample < median).count();
            let above = samples.iter().filter(|&&sample| sample > median).count();
            prop_assert!(below * 2 <= samples.len() && above * 2 <= samples.len());
        }
    }
}
