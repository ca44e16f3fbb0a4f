//! Two modes of one sample: most values, and some that lie apart above them by a step.

use crate::histogram::Histogram;
use crate::quantile::{ascending, median_of_sorted};

/// A step between phases of connections that matters, in nanoseconds: less is what a busy machine has one wait, and an acknowledgement is
/// delayed for 40 ms.
pub const STEP_NS: u64 = 25_000_000;

/// From this step on, in nanoseconds, something was waited for in vain.
pub const TIMEOUT_NS: u64 = 500_000_000;

/// Values that lie apart above the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpperMode {
    /// How many they are.
    pub count: usize,
    /// The smallest of them: each value from here on is one of them.
    pub from: u64,
    /// Their median less that of the others, in the unit of the samples.
    pub step: u64,
}

/// So many values are the fewest of which two modes are told.
const FEWEST: usize = 20;

/// The gap is so many times as wide as the lower mode: the tail of a single one grows thin by degrees.
const TIMES_AS_WIDE: u64 = 3;

/// A tail as heavy as the lower mode's would leave the gap empty less often than once in e to the power of this.
const IMPROBABLE: f64 = 15.0;

/// Beside `least`, less than one part in so many of it is as good as zero.
const NEAR_ZERO: u64 = 25_000;

/// The values that lie apart above the others; `samples` count from about zero: what each takes beyond the fastest of its kind. `None`
/// where there are none, as in a single mode with a long tail, or where the samples are fewer than twenty.
///
/// They lie apart where the gap below them is at least `least` and three times as wide as all that is below it, where the power law that
/// fits the upper third of what is below (Hill, The Annals of Statistics 3 (1975) 1163–1174) would not leave it empty, and where they
/// are at least three, most of them within half its width: a step, and no tail. Over a gap of `large` two are enough, however they lie.
pub fn upper_mode(samples: &[u64], least: u64, large: u64) -> Option<UpperMode> {
    let sorted = ascending(samples);
    if sorted.len() < FEWEST {
        return None;
    }
    (sorted.len() / 4..sorted.len()).find_map(|place| {
        let (lower, upper) = sorted.split_at_checked(place)?;
        let (first, last, from) = (*lower.first()?, *lower.last()?, *upper.first()?);
        let gap = from - last;
        let most = *upper.get(upper.len() * 3 / 4)?;
        let is_step = if gap >= large { upper.len() >= 2 } else { upper.len() >= 3 && most - from <= gap / 2 };
        let is_wide = gap >= least && gap >= (last - first).saturating_mul(TIMES_AS_WIDE);
        if !is_step || !is_wide || surprise(lower, upper, least / NEAR_ZERO) < IMPROBABLE {
            return None;
        }
        let step = median_of_sorted(upper)? - median_of_sorted(lower)?;
        Some(UpperMode { count: upper.len(), from, step })
    })
}

/// Of so many values of histograms that hold more, evenly chosen, two modes are told.
const CHOSEN: u64 = 4_096;

/// The same of histograms, the values of each counted from its least.
pub fn upper_mode_of_histograms(histograms: &[&Histogram<u64>], least: u64, large: u64) -> Option<UpperMode> {
    let all: u64 = histograms.iter().map(|histogram| histogram.len()).sum();
    let mut samples = Vec::new();
    for histogram in histograms {
        let chosen = if all > CHOSEN { histogram.len() * CHOSEN / all } else { histogram.len() };
        let place = |number: u64| (number as f64 + 0.5) / chosen as f64;
        let value = |number: u64| histogram.value_at_quantile(place(number)).saturating_sub(histogram.min());
        samples.extend((0..chosen).map(value));
    }
    let mode = upper_mode(&samples, least, large)?;
    let slow = histograms.iter().map(|it| it.count_between(it.min().saturating_add(mode.from), u64::MAX)).sum::<u64>();
    Some(UpperMode { count: usize::try_from(slow).ok()?, ..mode })
}

/// Minus the logarithm of how often so many values of a tail that falls as that of `lower` does would leave the gap empty: a
/// logarithm of each lies as far beyond the one below as an exponential variate (Rényi's representation).
fn surprise(lower: &[u64], upper: &[u64], least: u64) -> f64 {
    let logarithm = |value: &u64| (*value.max(&least.max(1)) as f64).ln();
    let tail = (lower.len() / 3).max(2);
    let Some((below, tail)) = lower.split_at_checked(lower.len().saturating_sub(tail)) else { return 0.0 };
    let (Some(threshold), Some(last), Some(from)) = (below.last(), tail.last(), upper.first()) else { return 0.0 };
    let spacing = tail.iter().map(|value| logarithm(value) - logarithm(threshold)).sum::<f64>() / tail.len() as f64;
    (logarithm(from) - logarithm(last)) * upper.len() as f64 / spacing.max(LEAST_SPACING)
}

/// A lower mode of values that are all alike has a tail of no weight at all.
const LEAST_SPACING: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Xoshiro256PlusPlus;

    type Random<'r> = &'r mut Xoshiro256PlusPlus;

    /// In how many of `runs` samples of groups of `each` values, each less the least of its group, there is an upper mode. Values are in
    /// milliseconds.
    fn found(runs: u64, groups: usize, each: usize, value: impl Fn(Random<'_>) -> f64) -> usize {
        let sample = |seed: u64| {
            let mut random = Xoshiro256PlusPlus::from_seed(seed);
            let mut all = Vec::new();
            for _ in 0..groups {
                let values: Vec<u64> = (0..each).map(|_| (value(&mut random) * 1e6) as u64).collect();
                let least = values.iter().copied().min().unwrap_or_default();
                all.extend(values.iter().map(|value| value - least));
            }
            upper_mode(&all, 25_000_000, 500_000_000)
        };
        (0..runs).filter(|seed| sample(*seed).is_some()).count()
    }

    fn is_one_in(random: Random<'_>, count: u64) -> bool {
        random.next_u64().is_multiple_of(count)
    }

    /// Every third value, or another share, takes a step more.
    fn stepping(one_in: u64, ms: f64) -> impl Fn(Random<'_>) -> f64 {
        move |random| random.exponential() + if is_one_in(random, one_in) { ms } else { 0.0 }
    }

    /// A process that waits for a processor in slices of 4 ms, now and then.
    fn crowded(one_in: u64, slices: f64) -> impl Fn(Random<'_>) -> f64 {
        move |random| {
            let waits = is_one_in(random, one_in);
            random.exponential() / 2.0 + if waits { 4.0 * (1.0 + (slices * random.exponential()).floor()) } else { 0.0 }
        }
    }

    #[test]
    fn a_long_tail_is_no_second_mode() {
        const RUNS: u64 = 1_000;
        for (groups, each) in [(1, 20), (5, 5), (5, 20)] {
            let alarms = |value: &dyn Fn(Random<'_>) -> f64| found(RUNS, groups, each, value);
            let alarms = [
                ("exponential, of a slow application", alarms(&|random| 100.0 * random.exponential())),
                ("the power law of index 1", alarms(&|random| 5.0 * random.exponential().exp())),
                ("that of index 2/3", alarms(&|random| 5.0 * (1.5 * random.exponential()).exp())),
                ("the square of an exponential", alarms(&|random| 20.0 * random.exponential().powi(2))),
                ("a crowded machine", alarms(&crowded(3, 3.0))),
                ("a machine that is crowded at times", alarms(&crowded(10, 8.0))),
            ];
            for (tail, alarms) in alarms {
                assert!(alarms <= RUNS as usize / 100, "{tail}: {alarms} of {RUNS} samples of {groups} times {each}");
            }
        }
    }

    #[test]
    fn a_step_is_a_second_mode() {
        for (groups, each, one_in, ms) in [(1, 24, 3, 1000.0), (5, 5, 3, 1000.0), (5, 20, 3, 40.0), (5, 20, 10, 1000.0)] {
            let found = found(200, groups, each, stepping(one_in, ms));
            assert!(found >= 190, "{found} of 200: one in {one_in} of {groups} times {each} takes {ms} ms more");
        }
    }

    #[test]
    fn an_upper_mode_is_seen_in_a_histogram() {
        let found = |fast: u64, slow: u64| {
            let mut histogram = crate::histogram::histogram().unwrap();
            histogram.record_n(2_000_000, 1).unwrap();
            (0..fast - 1).for_each(|place| histogram.record(2_000_000 + place % 50 * 20_000).unwrap());
            (0..slow).for_each(|place| histogram.record(302_000_000 + place % 50 * 20_000).unwrap());
            upper_mode_of_histograms(&[&histogram], STEP_NS, TIMEOUT_NS).map(|it| (it.count, it.step / 1_000_000))
        };
        assert_eq!(found(20, 10), Some((10, 300)));
        assert_eq!(found(60_000, 30_000), Some((30_000, 300)));
        assert_eq!(found(60_000, 1), None);
        assert_eq!(found(60, 0), None);
    }

    #[test]
    fn the_upper_mode_is_counted_and_measured() {
        let sample = |slow: &[u64]| {
            let fast = (0..20).map(|place| place * 10_000);
            let all: Vec<u64> = fast.chain(slow.iter().map(|ms| ms * 1_000_000)).collect();
            upper_mode(&all, 25_000_000, 500_000_000).map(|it| (it.count, it.from / 1_000_000, it.step / 1_000_000))
        };
        assert_eq!(sample(&[40, 41, 42, 41]), Some((4, 40, 40)));
        assert_eq!(sample(&[1_000, 3_000]), Some((2, 1_000, 1_999)));
        assert_eq!(sample(&[40, 41]), None, "two may be chance");
        assert_eq!(sample(&[1_000]), None);
        assert_eq!(sample(&[10, 11, 10, 11]), None, "too little to matter");
        assert_eq!(sample(&[]), None);
        assert_eq!(upper_mode(&[0, 1, 2, 1_000_000_000, 1_000_000_000], 25_000_000, 500_000_000), None, "too few");
    }
}
