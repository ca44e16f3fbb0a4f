//! How far the median of one run lies from the median of the next, judged from one run alone.
//!
//! The interval of a median ([`crate::summarize`]) takes samples as independent draws. On a real machine they are not: a
//! neighbour, a scheduler or a clock frequency makes whole stretches of a run slower, and a whole run as well. So a run is cut into
//! successive parts, and its median is taken to vary from run to run by as much as the medians of the parts vary within it.
//! `docs/decisions/0012-gate-and-watch.md` has the figures.

use crate::Ratio;
use crate::quantile::exact_median_of_sorted;

/// A run is cut into so many parts, or fewer where they would have under [`LEAST_IN_PART`] samples.
pub const PARTS: usize = 10;

const LEAST_IN_PART: usize = 6;

/// What runs of half a second or less differ by, whatever their parts say: a state of the machine outlasts them. Relative.
const OF_SHORT_RUN: f64 = 0.05;

/// The 0.975 quantile of the normal distribution.
pub const Z95: f64 = 1.959_964;

/// The standard deviation of the logarithm of a run's median, from one run to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunSpread {
    /// Within the run: of the medians of its parts.
    pub of_parts: f64,
    /// What outlasts the run.
    pub of_run: f64,
}

impl RunSpread {
    /// Of positive samples in the order in which they were taken, in a run of `seconds`, if that is known. `None` for fewer than
    /// three parts of six samples.
    pub fn of(samples: &[u64], seconds: Option<f64>) -> Option<Self> {
        let of_parts = variance_of_parts(samples)?.sqrt();
        Some(Self { of_parts, of_run: Self::least(seconds) })
    }

    /// What runs of so many `seconds` differ by at least: it falls with the square root of what is beyond half a second.
    pub fn least(seconds: Option<f64>) -> f64 {
        OF_SHORT_RUN * seconds.map_or(1.0, |seconds| (0.5 / seconds.max(0.5)).sqrt())
    }

    /// Both together.
    pub fn total(self) -> f64 {
        self.of_parts.hypot(self.of_run)
    }
}

/// The variance of the logarithms of the medians of a run's parts; `None` for fewer than three parts of six samples.
pub fn variance_of_parts(samples: &[u64]) -> Option<f64> {
    let parts = PARTS.min(samples.len() / LEAST_IN_PART);
    if parts < 3 {
        return None;
    }
    let bounds = |part: usize| samples.len() * part / parts..samples.len() * (part + 1) / parts;
    let logarithm = |part| {
        let median = exact_median_of_sorted(&crate::quantile::ascending(samples.get(bounds(part))?))?;
        Some(median.ln()).filter(|it| it.is_finite())
    };
    let logarithms: Vec<f64> = (0..parts).map(logarithm).collect::<Option<_>>()?;
    let mean = logarithms.iter().sum::<f64>() / parts as f64;
    Some(logarithms.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (parts - 1) as f64)
}

impl Ratio {
    /// The same figure with an interval of this standard deviation of its logarithm.
    pub fn spread_by(self, deviation: f64) -> Self {
        let arm = (Z95 * deviation).exp();
        Self { ci95: Some([self.median / arm, self.median * arm]), ..self }
    }

    /// The same figure, uncertain by this standard deviation of its logarithm besides.
    pub fn widened_by(self, deviation: f64) -> Self {
        let besides = Z95 * deviation;
        let wider = |arm: f64| arm.hypot(besides).exp();
        let ci95 = self.ci95.map(|[low, high]| {
            [self.median / wider((self.median / low).ln()), self.median * wider((high / self.median).ln())]
        });
        Self { ci95, ..self }
    }
}

/// Which of these ratios differ from 1 by more than chance: of ratios that are all 1, any is named in about 5 of 100 cases, however
/// many there are, by Holm's step-down (Scandinavian Journal of Statistics 6 (1979) 65–70) on their 95 % intervals, which are taken for
/// normal on the logarithms. One without an interval is never named, and does not count.
pub fn beyond_chance(ratios: &[Ratio]) -> Vec<bool> {
    let mut in_order: Vec<(usize, f64)> =
        ratios.iter().enumerate().filter_map(|(place, ratio)| Some((place, deviations(ratio)?))).collect();
    in_order.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let mut named = vec![false; ratios.len()];
    let left = (1..=in_order.len()).rev();
    for ((place, _), _) in in_order.iter().zip(left).take_while(|((_, found), left)| *found > deviations_of_chance(*left)) {
        if let Some(is_named) = named.get_mut(*place) {
            *is_named = true;
        }
    }
    named
}

/// So many standard deviations from no change, the largest of `comparisons` that are due to chance alone exceeds in 5 of 100 cases.
pub fn deviations_of_chance(comparisons: usize) -> f64 {
    upper_quantile(0.025 / comparisons.max(1) as f64)
}

/// How many standard deviations the ratio lies from 1.
fn deviations(ratio: &Ratio) -> Option<f64> {
    let [low, high] = ratio.ci95?;
    let change = ratio.median.ln();
    let arm = if change > 0.0 { change - low.ln() } else { high.ln() - change };
    let deviations = if change == 0.0 { 0.0 } else { change.abs() * Z95 / arm };
    (!deviations.is_nan()).then_some(deviations)
}

/// What a standard normal variable exceeds with probability `tail`, of at most a half, to 0.0005: formula 26.2.23 of Abramowitz and
/// Stegun, Handbook of Mathematical Functions (1964).
fn upper_quantile(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Xoshiro256PlusPlus;

    fn ratio(median: f64, deviation: f64) -> Ratio {
        Ratio { median, ci95: None }.spread_by(deviation)
    }

    #[test]
    fn a_steady_run_varies_as_its_samples_allow() {
        let mut random = Xoshiro256PlusPlus::from_seed(1);
        let steady: Vec<u64> = (0..400).map(|_| (1e6 * (1.0 + 0.1 * random.exponential())) as u64).collect();
        let spread = RunSpread::of(&steady, Some(2.0)).unwrap();
        assert!(spread.of_parts < 0.03 && spread.of_run == 0.025, "{spread:?}");
    }

    /// As on a machine that a neighbour slows down for a third of the run.
    #[test]
    fn a_run_with_slow_stretches_varies_by_them() {
        let of_stretches: Vec<u64> = (0..400).map(|i| if (100..230).contains(&i) { 1300 } else { 1000 }).collect();
        let spread = RunSpread::of(&of_stretches, Some(2.0)).unwrap();
        assert!(spread.of_parts > 0.1, "{spread:?}");
        let shuffled: Vec<u64> = (0..400).map(|i| if i % 3 == 1 { 1300 } else { 1000 }).collect();
        assert_eq!(variance_of_parts(&shuffled), Some(0.0), "what each part has does not tell one run from another");
    }

    #[test]
    fn short_runs_differ_by_more_than_long_ones() {
        assert_eq!(RunSpread::least(None), RunSpread::least(Some(0.1)));
        assert!((RunSpread::least(Some(8.0)) - 0.0125).abs() < 1e-12);
    }

    #[test]
    fn few_or_zero_samples_have_no_spread() {
        assert_eq!(variance_of_parts(&[5; 17]), None);
        assert_eq!(variance_of_parts(&[0; 100]), None);
        assert_eq!(variance_of_parts(&[5; 18]), Some(0.0));
    }

    #[test]
    fn a_figure_is_widened_on_both_sides() {
        let [low, high] = ratio(2.0, 0.03).widened_by(0.04).ci95.unwrap();
        let expected = (Z95 * 0.05).exp();
        assert!((2.0 / low - expected).abs() < 1e-9 && (high / 2.0 - expected).abs() < 1e-9);
        assert_eq!(Ratio { median: 2.0, ci95: None }.widened_by(0.1).ci95, None);
    }

    /// As they stand in printed tables.
    #[test]
    fn normal_quantiles_are_those_of_tables() {
        for (comparisons, expected) in [(1, 1.960), (2, 2.241), (5, 2.576), (50, 3.291)] {
            assert!((deviations_of_chance(comparisons) - expected).abs() < 0.001, "{comparisons}");
        }
    }

    #[test]
    fn one_of_many_has_to_differ_by_more_than_one_alone() {
        let alone = ratio(1.22, 0.1);
        assert_eq!(beyond_chance(&[ratio(1.2, 0.085)]), [true]);
        assert_eq!(beyond_chance(&[ratio(1.2, 0.085), alone, ratio(0.9, 0.1), ratio(1.1, 0.1)]), [false; 4]);
        assert_eq!(beyond_chance(&[ratio(1.5, 0.1), ratio(1.22, 0.1), ratio(1.0, 0.1)]), [true, false, false]);
        // The second has fewer rivals once the first is named.
        assert_eq!(beyond_chance(&[ratio(1.5, 0.1), ratio(1.22, 0.1)]), [true, true]);
    }

    #[test]
    fn without_an_interval_nothing_is_named() {
        let exact = Ratio { median: 2.0, ci95: Some([2.0, 2.0]) };
        assert_eq!(beyond_chance(&[Ratio { median: 9.0, ci95: None }, exact]), [false, true]);
        assert_eq!(beyond_chance(&[]), [false; 0]);
    }
}
