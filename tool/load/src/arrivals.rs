//! When the connections of one thread are due.

use std::time::Duration;

use reprise_model::Nanos;

use crate::options::{Arrival, ArrivalSpread, LoadOptions};
use crate::rates::Rates;

/// The arrivals of one thread, in order.
pub(crate) enum Arrivals {
    /// As soon as there is a place; the places open one after the other over the ramp.
    Closed {
        places: usize,
        ramp: Duration,
    },
    Open(Open),
}

/// An open loop's arrivals: the n-th is due when the rate, integrated over time, has come to n.
pub(crate) struct Open {
    rates: Rates,
    spread: ArrivalSpread,
    random: SplitMix64,
    due_after: f64,
}

impl Arrivals {
    /// The part of thread `index` of `options.threads`.
    pub(crate) fn of_thread(options: &LoadOptions, index: usize) -> Self {
        let threads = options.threads.max(1);
        match options.arrival {
            Arrival::Closed { connections } => {
                Self::Closed { places: share(connections as u64, threads, index) as usize, ramp: options.ramp }
            }
            Arrival::Open { rate, spread, .. } => Self::Open(Open {
                rates: Rates::of(options, rate, threads),
                spread,
                random: SplitMix64(options.seed.wrapping_add(index as u64)),
                // The threads take turns.
                due_after: index as f64 / threads as f64,
            }),
        }
    }

    /// How many places there are at `now`, counted from the beginning.
    pub(crate) fn open_places(&self, all: usize, now: Nanos) -> usize {
        match self {
            Self::Closed { places, ramp } if !ramp.is_zero() => {
                let part = now.0 as f64 / ramp.as_nanos() as f64;
                ((*places as f64 * part).ceil() as usize).clamp(1, *places)
            }
            Self::Closed { places, .. } => *places,
            Self::Open(_) => all,
        }
    }
}

impl Open {
    /// When the next one is due, from the beginning.
    pub(crate) fn due(&self) -> Nanos {
        Nanos((self.rates.seconds(self.due_after) * 1e9) as u64)
    }

    /// Goes on to the one after it.
    pub(crate) fn advance(&mut self) {
        self.due_after += match self.spread {
            ArrivalSpread::Constant => 1.0,
            ArrivalSpread::Poisson => self.random.exponential(),
        };
    }

    /// Goes on to the first that is due at `end` or later, and says how many were due before.
    pub(crate) fn pass_over(&mut self, end: Nanos) -> u64 {
        let mut passed = 0;
        // One by one would take longer than the load did; the last ones are, since the sum is not exact.
        let expected = self.rates.arrivals(end.0 as f64 / 1e9) - self.due_after;
        if expected > ONE_BY_ONE {
            let at_once = (expected - ONE_BY_ONE).floor();
            self.due_after += at_once;
            passed += at_once as u64;
        }
        while self.due() < end {
            self.advance();
            passed += 1;
        }
        passed
    }
}

/// So many arrivals are gone through one by one at the most.
const ONE_BY_ONE: f64 = 100_000.0;

/// The part of `whole` that falls to one of `parts`.
pub(crate) fn share(whole: u64, parts: usize, index: usize) -> u64 {
    let parts = parts.max(1) as u64;
    whole / parts + u64::from((index as u64) < whole % parts)
}

/// Chooses among weights so that every prefix is as near to them as can be (smooth weighted round robin).
pub(crate) struct Turns {
    weights: Vec<i64>,
    credits: Vec<i64>,
    total: i64,
}

impl Turns {
    /// `from` turns are passed over, so that threads do not all begin alike.
    pub(crate) fn new(weights: impl IntoIterator<Item = u32>, from: usize) -> Self {
        let weights: Vec<i64> = weights.into_iter().map(i64::from).collect();
        let total = weights.iter().sum::<i64>().max(1);
        let mut turns = Self { credits: vec![0; weights.len()], weights, total };
        for _ in 0..from {
            turns.next();
        }
        turns
    }

    /// The place of the next choice.
    pub(crate) fn next(&mut self) -> usize {
        if self.weights.len() < 2 {
            return 0;
        }
        for (credit, weight) in self.credits.iter_mut().zip(&self.weights) {
            *credit += weight;
        }
        let best = self.credits.iter().enumerate().max_by_key(|&(place, credit)| (*credit, std::cmp::Reverse(place)));
        let place = best.map_or(0, |(place, _)| place);
        if let Some(credit) = self.credits.get_mut(place) {
            *credit -= self.total;
        }
        place
    }
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014). For the times of arrivals alone.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// With a mean of 1, finite and above 0.
    fn exponential(&mut self) -> f64 {
        let uniform = ((self.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        -uniform.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn open(rate: f64, spread: ArrivalSpread, ramp: u64, threads: usize) -> Vec<Open> {
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let options = LoadOptions {
            arrival: Arrival::Open { rate, spread, most: 1 },
            ramp: Duration::from_secs(ramp),
            threads,
            ..LoadOptions::new(address, Vec::new())
        };
        let of_thread = |index| match Arrivals::of_thread(&options, index) {
            Arrivals::Open(open) => open,
            Arrivals::Closed { .. } => unreachable!(),
        };
        (0..threads).map(of_thread).collect()
    }

    fn in_first(open: &mut Open, seconds: u64) -> usize {
        std::iter::from_fn(|| {
            let due = open.due();
            open.advance();
            (due.0 < seconds * 1_000_000_000).then_some(())
        })
        .count()
    }

    #[test]
    fn a_constant_rate_is_kept_by_all_threads_together() {
        let mut threads = open(1000.0, ArrivalSpread::Constant, 0, 3);
        let first: Vec<u64> = threads.iter().map(|open| open.due().0).collect();
        assert_eq!(first, [0, 1_000_000, 2_000_000]);
        let counts: usize = threads.iter_mut().map(|open| in_first(open, 2)).sum();
        assert!((1999..=2001).contains(&counts), "{counts}");
    }

    #[test]
    fn a_poisson_process_keeps_its_rate_on_average() {
        let counts = in_first(&mut open(1000.0, ArrivalSpread::Poisson, 0, 1)[0], 100);
        // Five standard deviations.
        assert!((98_420..=101_580).contains(&counts), "{counts}");
    }

    #[test]
    fn a_ramp_has_half_of_the_arrivals() {
        let counts = in_first(&mut open(1000.0, ArrivalSpread::Constant, 10, 1)[0], 10);
        assert!((4999..=5001).contains(&counts), "{counts}");
        let counts = in_first(&mut open(1000.0, ArrivalSpread::Constant, 10, 1)[0], 11);
        assert!((5999..=6001).contains(&counts), "{counts}");
    }

    #[test]
    fn what_is_passed_over_at_once_is_what_would_be_one_by_one() {
        for (rate, ramp) in [(1e6, 0), (1e6, 4), (3e5, 1)] {
            let mut at_once = open(rate, ArrivalSpread::Constant, ramp, 1);
            let mut one_by_one = open(rate, ArrivalSpread::Constant, ramp, 1);
            let expected = in_first(&mut one_by_one[0], 2) as u64;
            let passed = at_once[0].pass_over(Nanos(2_000_000_000));
            assert!(passed.abs_diff(expected) <= 1, "{passed} {expected}");
            assert!(at_once[0].due() >= Nanos(2_000_000_000));
        }
    }

    #[test]
    fn turns_follow_the_weights_at_every_moment() {
        let mut turns = Turns::new([70, 10, 20], 0);
        let mut counts = [0; 3];
        for round in 1..=1000 {
            counts[turns.next()] += 1;
            for (count, weight) in counts.iter().zip([0.7, 0.1, 0.2]) {
                assert!((f64::from(*count) - weight * f64::from(round)).abs() < 1.5, "{counts:?} after {round}");
            }
        }
        assert_eq!(counts, [700, 100, 200]);
    }

    #[test]
    fn parts_add_up() {
        assert_eq!((0..3).map(|index| share(100, 3, index)).collect::<Vec<_>>(), [34, 33, 33]);
    }
}
