//! One figure against several of before: what comes and goes from one run to the next is part of the interval.

use crate::Ratio;

/// The ratio of a figure to the geometric mean of the same figure in earlier runs. Each has an interval from its own samples,
/// and the earlier ones differ besides, as one run differs from the next whatever is measured. The interval is the wider of
/// two, on the logarithms: that of the samples alone, by the square-and-add method of [`crate::ratio_of_estimates`], and
/// Student's interval for one more draw of what the earlier ones were drawn from, ± t · s · √(1 + 1/k). So it covers at least 95
/// in 100 however much runs differ, and is wide where runs are few: t is 12.7 for two of them, 4.3 for three, 2.8 for five.
///
/// With one earlier run there is only the first: of the variance between runs nothing is known then. `None` where the ratio is
/// no number; without an interval where any of them has none.
pub fn ratio_to_earlier(now: Ratio, earlier: &[Ratio]) -> Option<Ratio> {
    let k = earlier.len() as f64;
    let logarithms: Vec<f64> = earlier.iter().map(|it| it.median.ln()).collect();
    let mean = logarithms.iter().sum::<f64>() / k;
    let median = (now.median.ln() - mean).exp();
    if !(median.is_finite() && median > 0.0) {
        return None;
    }
    Some(Ratio {
        median,
        ci95: interval(now, earlier, &logarithms, mean).filter(|[low, high]| *low > 0.0 && high.is_finite()),
    })
}

fn interval(now: Ratio, earlier: &[Ratio], logarithms: &[f64], mean: f64) -> Option<[f64; 2]> {
    let k = earlier.len() as f64;
    let (now_below, now_above) = arms(now)?;
    let arms: Vec<(f64, f64)> = earlier.iter().map(|it| arms(*it)).collect::<Option<_>>()?;
    let squares = |arm: fn(&(f64, f64)) -> f64| arms.iter().map(|it| arm(it).powi(2)).sum::<f64>() / (k * k);
    // What makes the earlier ones longer makes the ratio smaller.
    let (below, above) = (now_below.powi(2) + squares(|it| it.1), now_above.powi(2) + squares(|it| it.0));

    let spread = (logarithms.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (k - 1.0)).sqrt();
    let between = if earlier.len() > 1 { student_975(k - 1.0) * spread * (1.0 + 1.0 / k).sqrt() } else { 0.0 };
    let centre = now.median.ln() - mean;
    Some([(centre - below.sqrt().max(between)).exp(), (centre + above.sqrt().max(between)).exp()])
}

/// How far the interval reaches below and above, on the logarithms.
fn arms(ratio: Ratio) -> Option<(f64, f64)> {
    let [low, high] = ratio.ci95?;
    let arms = ((ratio.median / low).ln(), (high / ratio.median).ln());
    (arms.0.is_finite() && arms.1.is_finite()).then_some(arms)
}

/// The 0.975 quantile of Student's distribution of so many whole degrees of freedom, at least one: up to 30 by SciPy 1.17.1,
/// `t.ppf(0.975, df)`, and beyond by the expansion of Cornish and Fisher, to four terms.
pub(crate) fn student_975(freedom: f64) -> f64 {
    const EXACT: [f64; 30] = [
        12.706, 4.303, 3.182, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448,
        2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484,
        2.0452, 2.0423,
    ];
    if let Some(exact) = EXACT.get((freedom as usize).saturating_sub(1)) {
        return *exact;
    }
    let (z, n) = (1.959_964_f64, freedom);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / n + second / n.powi(2) + third / n.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(median: f64) -> Ratio {
        Ratio { median, ci95: Some([median * 0.98, median / 0.98]) }
    }

    fn width(ratio: Ratio) -> f64 {
        let [low, high] = ratio.ci95.unwrap();
        (high / low).ln()
    }

    #[test]
    fn one_earlier_run_is_a_ratio_of_two_estimates() {
        let (now, earlier) = (estimate(120.0), estimate(100.0));
        let (found, known) = (ratio_to_earlier(now, &[earlier]).unwrap(), crate::ratio_of_estimates(now, earlier).unwrap());
        assert!((found.median - known.median).abs() < 1e-9 && (width(found) - width(known)).abs() < 1e-9);
    }

    #[test]
    fn runs_that_agree_narrow_the_interval() {
        let one = ratio_to_earlier(estimate(100.0), &[estimate(100.0)]).unwrap();
        let four = ratio_to_earlier(estimate(100.0), &[100.0, 100.1, 99.9, 100.0].map(estimate)).unwrap();
        assert!(width(four) < width(one), "{four:?} {one:?}");
    }

    #[test]
    fn runs_that_differ_widen_it_beyond_what_they_differ_by() {
        let agreeing = ratio_to_earlier(estimate(100.0), &[estimate(100.0); 3]).unwrap();
        let differing = ratio_to_earlier(estimate(100.0), &[90.0, 100.0, 111.0].map(estimate)).unwrap();
        let [low, high] = differing.ci95.unwrap();
        assert!(width(differing) > 3.0 * width(agreeing) && low < 0.85 && high > 1.15, "{low}..{high}");
    }

    #[test]
    fn what_is_unknown_stays_so() {
        let unknown = Ratio { median: 100.0, ci95: None };
        assert_eq!(ratio_to_earlier(estimate(100.0), &[estimate(100.0), unknown]).unwrap().ci95, None);
        assert_eq!(ratio_to_earlier(estimate(100.0), &[]), None);
        assert_eq!(ratio_to_earlier(estimate(0.0), &[estimate(100.0)]), None);
    }

    /// As they stand in printed tables.
    #[test]
    fn students_quantiles_are_those_of_tables() {
        for (freedom, expected) in [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (5.0, 2.571), (10.0, 2.228), (1e9, 1.960)] {
            assert!((student_975(freedom) / expected - 1.0).abs() < 0.004, "{freedom}: {}", student_975(freedom));
        }
    }
}
