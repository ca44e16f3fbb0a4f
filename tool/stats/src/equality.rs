//! Whether what ought to be equal is.

use crate::bootstrap;
use crate::quantile::{ascending, compare_at};

/// Those pairs of sample sets whose medians have a ratio outside `low..=high`, by their places. Of sets whose ratios all lie
/// inside, at most about 5 in 100 have any pair named, however many there are: Holm's step-down (Scandinavian Journal of
/// Statistics 6 (1979) 65–70), by bootstrap intervals. Sets of under six samples are never named.
pub fn unequal_pairs(sets: &[Vec<u64>], low: f64, high: f64, seed: u64) -> Vec<(usize, usize)> {
    let sets: Vec<Vec<u64>> = sets.iter().map(|set| ascending(set)).collect();
    let places = 0..sets.len();
    let mut left: Vec<(usize, usize)> =
        places.clone().flat_map(|to| places.clone().take(to).map(move |from| (from, to))).collect();
    let mut named = Vec::new();
    loop {
        let tail = bootstrap::TAIL / left.len().max(1) as f64;
        let is_outside = |(from, to): &(usize, usize)| {
            let (Some(from), Some(to)) = (sets.get(*from), sets.get(*to)) else { return false };
            let ratio = compare_at(|from, to| from / to, from, to);
            let interval = bootstrap::independent_beyond(tail, from.len(), to.len(), seed, ratio);
            interval.is_some_and(|[bottom, top]| bottom > high || top < low)
        };
        let (outside, inside): (Vec<_>, Vec<_>) = left.into_iter().partition(is_outside);
        left = inside;
        if outside.is_empty() {
            return named;
        }
        named.extend(outside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Xoshiro256PlusPlus;

    fn drawn(random: &mut Xoshiro256PlusPlus, scale: f64) -> Vec<u64> {
        (0..200).map(|_| (scale * (1_000.0 + 60.0 * random.exponential())) as u64).collect()
    }

    #[test]
    fn one_that_differs_is_named_with_each_of_the_others() {
        let mut random = Xoshiro256PlusPlus::from_seed(1);
        let sets = [1.0, 1.0, 0.84, 1.0].map(|scale| drawn(&mut random, scale));
        assert_eq!(unequal_pairs(&sets, 0.97, 1.03, 1), [(0, 2), (1, 2), (2, 3)]);
    }

    #[test]
    fn equal_sets_are_rarely_named() {
        let mut random = Xoshiro256PlusPlus::from_seed(2);
        let named = (0..100).filter(|_| {
            let sets: Vec<_> = (0..6).map(|_| drawn(&mut random, 1.0)).collect();
            !unequal_pairs(&sets, 1.0, 1.0, 1).is_empty()
        });
        assert!(named.count() <= 12);
    }

    #[test]
    fn few_samples_are_never_named() {
        assert!(unequal_pairs(&[vec![1; 5], vec![100; 50]], 0.97, 1.03, 1).is_empty());
        assert!(unequal_pairs(&[], 0.97, 1.03, 1).is_empty());
    }
}
