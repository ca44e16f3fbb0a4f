//! How long connections take, while they are made: counted by all threads at once, read by one that only looks.
//!
//! The result has its own histograms, which are exact. These are for the eye: each bin is an eighth of a power of two wide.

use std::sync::atomic::{AtomicU64, Ordering};

use reprise_model::Nanos;

/// Bins to a power of two.
const FINENESS: u32 = 8;
/// Up to 2^40 ns, which is 18 minutes; what takes longer stands in the last bin.
const BINS: usize = 40 * FINENESS as usize;

/// Counts of latencies, to which all threads add.
pub(crate) struct Latencies([AtomicU64; BINS]);

impl Default for Latencies {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; BINS])
    }
}

impl Latencies {
    pub(crate) fn add(&self, latency: Nanos) {
        if let Some(count) = self.0.get(bin(latency)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn counts(&self) -> LatencyCounts {
        LatencyCounts(self.0.iter().map(|count| count.load(Ordering::Relaxed)).collect())
    }
}

/// How many connections took how long, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyCounts(Vec<u64>);

impl LatencyCounts {
    /// The latency that this share of the connections since `earlier` did not exceed, to an eighth; `None` where there were
    /// none.
    pub fn quantile_since(&self, earlier: &Self, quantile: f64) -> Option<Nanos> {
        let before = |index: usize| earlier.0.get(index).copied().unwrap_or_default();
        let new: Vec<u64> = self.0.iter().enumerate().map(|(index, count)| count.saturating_sub(before(index))).collect();
        let total: u64 = new.iter().sum();
        let wanted = ((total as f64 * quantile).ceil() as u64).clamp(1, total.max(1));
        let mut seen = 0;
        let place = new.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        place.map(upper_bound)
    }
}

/// Position in powers of two, and within one by the bits that follow the first.
fn bin(Nanos(ns): Nanos) -> usize {
    let ns = ns.max(u64::from(FINENESS));
    let power = ns.ilog2();
    let within = (ns >> (power - FINENESS.ilog2())) as u32 - FINENESS;
    ((power * FINENESS + within) as usize).min(BINS - 1)
}

fn upper_bound(bin: usize) -> Nanos {
    let (power, within) = (bin as u32 / FINENESS, bin as u32 % FINENESS);
    Nanos(u64::from(FINENESS + within + 1) << power >> FINENESS.ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_is_known_to_an_eighth() {
        for ns in [9, 100, 1_000, 123_456, 5_000_000, 1_000_000_000, (1 << 40) - 1] {
            let Nanos(bound) = upper_bound(bin(Nanos(ns)));
            assert!(ns <= bound && bound <= ns + ns / 8 + 1, "{ns}: {bound}");
        }
        assert_eq!(bin(Nanos(u64::MAX)), BINS - 1);
        assert_eq!(bin(Nanos(0)), bin(Nanos(8)));
    }

    #[test]
    fn a_quantile_is_of_what_came_since() {
        let latencies = Latencies::default();
        (0..100).for_each(|_| latencies.add(Nanos(1_000_000_000)));
        let earlier = latencies.counts();
        assert_eq!(earlier.quantile_since(&earlier, 0.99), None);
        (0..99).for_each(|_| latencies.add(Nanos(1_000_000)));
        latencies.add(Nanos(50_000_000));
        let now = latencies.counts();
        let ms = |quantile| now.quantile_since(&earlier, quantile).map(|Nanos(ns)| ns / 1_000_000);
        assert_eq!((ms(0.99), ms(1.0)), (Some(1), Some(50)));
        assert!(now.quantile_since(&LatencyCounts::default(), 0.99) > Some(Nanos(900_000_000)));
    }
}
