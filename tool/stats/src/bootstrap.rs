//! A bootstrap of the median whose coverage does not depend on the shape of the distribution.
//!
//! The textbook percentile bootstrap draws n of the n samples with replacement. Its medians can only fall on the samples
//! themselves, and its intervals cover too little when samples are few: 92 % instead of 95 % at n = 21. This one is the
//! smoothed Bayesian bootstrap (Rubin, Annals of Statistics 9 (1981) 130–134; Banks, Biometrika 75 (1988) 673–684),
//! which works on the distribution function instead. Whatever continuous distribution F the samples came from, the n
//! values F(x₍₁₎) < … < F(x₍ₙ₎) are distributed like n sorted uniform numbers. A resample draws such numbers, joins
//! them by straight lines and reads off where they cross 1/2: a *position* among the sorted samples, fractional, that
//! owes nothing to their values.
//!
//! At whole positions its quantiles are those of the exact sign test, and between them those of Hettmansperger and
//! Sheather (Statistics & Probability Letters 4 (1986) 75–79), which cover about 95 % in any shape. The simulations are in
//! `docs/decisions/0003-intervals.md`.

use crate::random::Xoshiro256PlusPlus;

/// The resamples behind an interval: enough to make its ends steady, 250 of them lying beyond each.
const RESAMPLES: usize = 10_000;

/// What a 95 % interval leaves beyond each of its ends.
pub(crate) const TAIL: f64 = 0.025;

/// With fewer samples not even the range from the least to the greatest covers the median 95 times in 100: it misses
/// whenever all lie on one side, so with probability 2 · 2⁻ⁿ, which is 6 % at n = 5 and 3 % at n = 6.
const FEWEST: usize = 6;

/// The 95 % interval of the median of `n` samples, as zero-based positions among them when sorted. `None` when they
/// are fewer than any interval needs.
pub(crate) fn median_positions(n: usize, seed: u64) -> Option<[f64; 2]> {
    let mut random = Xoshiro256PlusPlus::from_seed(seed);
    middle_95_percent(n, || {
        let below = random.heads(n);
        crossing(n, below, Gaps::draw(&mut random))
    })
}

/// The 95 % interval of `statistic`, a function of the positions of two medians, for `n` and `m` samples that were taken
/// without regard to one another.
pub(crate) fn independent(n: usize, m: usize, seed: u64, statistic: impl Fn(f64, f64) -> f64) -> Option<[f64; 2]> {
    independent_beyond(TAIL, n, m, seed, statistic)
}

/// The same with a share of `tail` beyond each end.
pub(crate) fn independent_beyond(
    tail: f64,
    n: usize,
    m: usize,
    seed: u64,
    statistic: impl Fn(f64, f64) -> f64,
) -> Option<[f64; 2]> {
    let mut random = Xoshiro256PlusPlus::from_seed(seed);
    middle(tail, n.min(m), || {
        let first = random.heads(n);
        let first = crossing(n, first, Gaps::draw(&mut random));
        let second = random.heads(m);
        statistic(first, crossing(m, second, Gaps::draw(&mut random)))
    })
}

/// As [`independent`], for `n` rounds that each gave one sample to either side. In `agreeing` of the rounds both samples
/// lie in the lower half of their side, or both in the upper.
///
/// A resample tosses one coin per round: where the round's sample falls, below the true median or above. The coin stands
/// for both sides of an agreeing round and is turned over between the sides of any other. So either side by itself is
/// resampled as in [`median_positions`], and the two move together as far as the rounds did.
pub(crate) fn paired(n: usize, agreeing: usize, seed: u64, statistic: impl Fn(f64, f64) -> f64) -> Option<[f64; 2]> {
    let mut random = Xoshiro256PlusPlus::from_seed(seed);
    let opposed = n.saturating_sub(agreeing);
    middle_95_percent(n, || {
        let (both, one) = (random.heads(n - opposed), random.heads(opposed));
        let gaps = Gaps::draw(&mut random);
        statistic(crossing(n, both + one, gaps), crossing(n, both + (opposed - one), gaps))
    })
}

/// How far the two uniform numbers that enclose 1/2 lie from it, as exponential variates yet to be scaled.
#[derive(Clone, Copy)]
struct Gaps {
    below: f64,
    above: f64,
}

impl Gaps {
    fn draw(random: &mut Xoshiro256PlusPlus) -> Self {
        Self { below: random.exponential(), above: random.exponential() }
    }
}

/// The position where the line through `n` sorted uniform numbers, `below` of them under 1/2, crosses 1/2.
///
/// Of the numbers only the two around 1/2 matter, and given `below` they need not be sorted out of n: the greatest of k
/// uniform numbers on (0, 1/2) is 1/2 · exp(−E/k) with E exponential, and likewise on the other side.
fn crossing(n: usize, below: usize, gaps: Gaps) -> f64 {
    if below == 0 {
        return 0.0;
    }
    let above = n - below;
    let last_below = (below - 1) as f64;
    if above == 0 {
        return last_below;
    }
    let down = -(-gaps.below / below as f64).exp_m1();
    let up = -(-gaps.above / above as f64).exp_m1();
    last_below + down / (down + up)
}

fn middle_95_percent(fewest: usize, resample: impl FnMut() -> f64) -> Option<[f64; 2]> {
    middle(TAIL, fewest, resample)
}

fn middle(tail: f64, fewest: usize, mut resample: impl FnMut() -> f64) -> Option<[f64; 2]> {
    if fewest < FEWEST {
        return None;
    }
    let mut values: Vec<f64> = (0..RESAMPLES).map(|_| resample()).collect();
    let tail = ((RESAMPLES as f64 * tail) as usize).clamp(1, RESAMPLES / 4);
    let (_, low, rest) = values.select_nth_unstable_by(tail - 1, f64::total_cmp);
    let low = *low;
    // `rest` begins at `tail`, so the one with `tail - 1` others above it stands here:
    let (_, high, _) = rest.select_nth_unstable_by(RESAMPLES - 2 * tail, f64::total_cmp);
    Some([low, *high])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends of the 95 % interval by Hettmansperger and Sheather's formula, as zero-based positions, computed with
    /// SciPy 1.17.1 from `binom.cdf(k, n, 0.5)`:
    ///
    /// ```text
    /// def low(n):                                   # high is n - 1 - low
    ///     k = int(binom.ppf(0.025, n, 0.5))         # P(fewer than k heads) <= 0.025 < P(fewer than k + 1)
    ///     p = (0.025 - binom.cdf(k - 1, n, 0.5)) / binom.pmf(k, n, 0.5)
    ///     return k - 1 + (n - k) * p / (k + (n - 2 * k) * p)
    /// ```
    const INTERPOLATED: [(usize, f64); 9] = [
        (6, 0.357),
        (10, 1.658),
        (20, 5.235),
        (21, 5.674),
        (50, 17.672),
        (100, 39.763),
        (101, 40.203),
        (1000, 468.533),
        (10000, 4901.509),
    ];

    #[test]
    fn positions_equal_the_interpolated_sign_interval() {
        for (n, low) in INTERPOLATED {
            let [begin, end] = median_positions(n, 3).unwrap();
            // Three standard errors of an end: 0.0047 in probability, over the probability of one step.
            let step = 0.8 / (n as f64).sqrt() * (-1.96_f64.powi(2) / 2.0).exp();
            let tolerance = 0.0047 / step;
            assert!((begin - low).abs() < tolerance, "n = {n}: {begin} is not {low}");
            assert!((end - (n as f64 - 1.0 - low)).abs() < tolerance, "n = {n}: {end}");
        }
    }

    #[test]
    fn few_samples_have_no_interval() {
        assert_eq!(median_positions(5, 1), None);
        assert!(median_positions(6, 1).is_some());
        assert_eq!(independent(100, 5, 1, |a, b| a - b), None);
        assert_eq!(paired(5, 5, 1, |a, b| a - b), None);
    }

    #[test]
    fn sides_that_always_agree_never_differ() {
        assert_eq!(paired(40, 40, 1, |a, b| a - b), Some([0.0, 0.0]));
    }

    #[test]
    fn sides_that_never_agree_differ_most() {
        let width = |agreeing| {
            let [low, high] = paired(40, agreeing, 1, |a, b| a - b).unwrap();
            high - low
        };
        assert!(width(0) > width(20) && width(20) > width(40));
    }
}
