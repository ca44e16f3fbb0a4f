//! Two figures whose samples are gone: only an estimate and its interval are left of each.

use crate::Ratio;

/// The ratio `from` / `to` of two positive estimates that were made without regard to one another, from their intervals
/// alone: the square-and-add method of Zou and Donner, "Construction of confidence limits about effect measures",
/// Statistics in Medicine 27 (2008), on the logarithms. `None` where the ratio is no number; without an interval where
/// either side has none, or one that reaches 0.
///
/// Where the samples are at hand, [`crate::ratio`] is the better one.
pub fn ratio_of_estimates(from: Ratio, to: Ratio) -> Option<Ratio> {
    let median = from.median / to.median;
    if !(median.is_finite() && median > 0.0) {
        return None;
    }
    let ci95 = from.ci95.zip(to.ci95).map(|([from_low, from_high], [to_low, to_high])| {
        let below = (from.median / from_low).ln().hypot((to_high / to.median).ln());
        let above = (from_high / from.median).ln().hypot((to.median / to_low).ln());
        [median * (-below).exp(), median * above.exp()]
    });
    Some(Ratio { median, ci95: ci95.filter(|[low, high]| low.is_finite() && high.is_finite() && *low > 0.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(median: f64, low: f64, high: f64) -> Ratio {
        Ratio { median, ci95: Some([low, high]) }
    }

    #[test]
    fn one_exact_side_leaves_the_others_interval() {
        let found = ratio_of_estimates(estimate(6.0, 5.0, 7.5), estimate(2.0, 2.0, 2.0)).unwrap();
        let [low, high] = found.ci95.unwrap();
        assert_eq!(found.median, 3.0);
        assert!((low - 2.5).abs() < 1e-12 && (high - 3.75).abs() < 1e-12, "{low}..{high}");
    }

    #[test]
    fn two_equal_spreads_are_wider_by_the_root_of_two() {
        let side = estimate(1.0, (-0.1_f64).exp(), 0.1_f64.exp());
        let [low, high] = ratio_of_estimates(side, side).unwrap().ci95.unwrap();
        let expected = 0.1 * 2.0_f64.sqrt();
        assert!((low.ln() + expected).abs() < 1e-12 && (high.ln() - expected).abs() < 1e-12, "{low}..{high}");
    }

    #[test]
    fn what_is_unknown_stays_so() {
        let known = estimate(2.0, 1.0, 3.0);
        assert_eq!(ratio_of_estimates(Ratio { median: 4.0, ci95: None }, known), Some(Ratio { median: 2.0, ci95: None }));
        assert_eq!(ratio_of_estimates(known, estimate(1.0, 0.0, 2.0)).unwrap().ci95, None, "no bound above");
        for nothing in [0.0, f64::NAN] {
            assert_eq!(ratio_of_estimates(known, Ratio { median: nothing, ci95: None }), None);
            assert_eq!(ratio_of_estimates(Ratio { median: nothing, ci95: None }, known), None);
        }
    }

    /// Against the bootstrap, where the samples are there.
    #[test]
    fn it_comes_near_to_what_the_samples_say() {
        let samples = |base: u64| (0..200).map(|i| base + (i * 7919) % 101).collect::<Vec<u64>>();
        let (from, to) = (samples(1000), samples(800));
        let estimate = |samples: &[u64]| {
            let summary = crate::summarize(samples, 3).unwrap();
            Ratio { median: summary.median as f64, ci95: summary.ci95.map(|ends| ends.map(|end| end as f64)) }
        };
        let [low, high] = crate::ratio(&from, &to, 3).unwrap().ci95.unwrap();
        let [near_low, near_high] = ratio_of_estimates(estimate(&from), estimate(&to)).unwrap().ci95.unwrap();
        let width = high - low;
        assert!((near_low - low).abs() < width / 4.0 && (near_high - high).abs() < width / 4.0);
    }
}
