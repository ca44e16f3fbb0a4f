//! How long what completed in each second took: a coarse histogram a second, of which only what it holds is kept.

use reprise_stats::histogram::{Histogram, Spread, coarse_histogram, spread};

/// The latencies of one kind, second by second.
#[derive(Default)]
pub(crate) struct Seconds {
    /// The second that is under way.
    current: Option<(usize, Histogram<u64>)>,
    /// Those before it.
    past: Vec<(usize, Held)>,
}

/// The values that a histogram holds, and how often each.
type Held = Box<[(u64, u64)]>;

impl Seconds {
    /// One more, in this second; they come in order.
    pub(crate) fn record(&mut self, second: usize, nanos: u64) {
        if self.current.as_ref().is_none_or(|(current, _)| *current != second) {
            self.next(second);
        }
        if let Some((_, histogram)) = &mut self.current {
            histogram.saturating_record(nanos);
        }
    }

    /// Adds what another thread has seen.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.past.extend(other.past.iter().cloned());
        self.past.extend(other.current.as_ref().map(|(second, histogram)| (*second, held(histogram))));
    }

    /// What each of so many seconds came to; `None` where nothing completed.
    pub(crate) fn spreads(&self, seconds: usize) -> Vec<Option<Spread>> {
        let Some(mut sum) = coarse_histogram() else { return Vec::new() };
        let mut all: Vec<(usize, &[(u64, u64)])> = self.past.iter().map(|(second, held)| (*second, &**held)).collect();
        all.sort_by_key(|(second, _)| *second);
        let mut all = all.into_iter().peekable();
        (0..seconds)
            .map(|second| {
                sum.reset();
                while let Some((_, held)) = all.next_if(|(of, _)| *of <= second) {
                    held.iter().for_each(|(nanos, count)| sum.saturating_record_n(*nanos, *count));
                }
                (!sum.is_empty()).then(|| spread(&sum))
            })
            .collect()
    }

    fn next(&mut self, second: usize) {
        let histogram = match self.current.take() {
            Some((past, mut histogram)) => {
                self.past.push((past, held(&histogram)));
                histogram.reset();
                Some(histogram)
            }
            None => coarse_histogram(),
        };
        self.current = histogram.map(|histogram| (second, histogram));
    }
}

fn held(histogram: &Histogram<u64>) -> Held {
    histogram.iter_recorded().map(|it| (it.value_iterated_to(), it.count_at_value())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_make_one_series_with_gaps() {
        let (mut all, mut one, mut other) = (Seconds::default(), Seconds::default(), Seconds::default());
        for (second, nanos) in [(0, 1_000), (0, 3_000), (2, 5_000)] {
            one.record(second, nanos);
        }
        other.record(0, 2_000);
        all.merge(&one);
        all.merge(&other);
        let spreads = all.spreads(4);
        let near = |value: u64, wanted: u64| value.abs_diff(wanted) * 100 <= wanted;
        let first = spreads[0].unwrap();
        assert!(near(first.p50, 2_000) && near(first.max, 3_000), "{first:?}");
        assert!(near(spreads[2].unwrap().p99, 5_000));
        assert_eq!((spreads[1], spreads[3], spreads.len()), (None, None, 4));
    }
}
