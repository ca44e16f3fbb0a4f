//! In which order to measure what is to be compared.

use crate::random::Xoshiro256PlusPlus;

/// How many rounds' successors are shuffled together. More would let what is compared drift apart, fewer would leave out
/// the long gaps between two of a kind: a balancer over five nodes is only seen where gaps of five occur.
const ROUNDS_TOGETHER: usize = 4;

/// A random order of `things`, numbered from 0, each of them `each` times, beginning with `first`. Each precedes each, itself
/// included, equally often, but for a few at the end where `each` is no multiple of `things`; so what one leaves behind falls on
/// all of them alike, as in Williams' designs. Nowhere in it is one of them far ahead of another: what drifts, drifts for all.
///
/// It follows from `seed`. Empty where `first` is none of the things.
///
/// ```
/// let order = reprise_stats::balanced_order(2, 100, 0, 7);
/// let pairs = |from, to| order.windows(2).filter(|pair| *pair == [from, to]).count();
/// assert!([pairs(0, 0), pairs(0, 1), pairs(1, 0), pairs(1, 1)].iter().all(|count| (49..=50).contains(count)));
/// ```
pub fn balanced_order(things: usize, each: usize, first: usize, seed: u64) -> Vec<usize> {
    if first >= things {
        return Vec::new();
    }
    let mut random = Xoshiro256PlusPlus::from_seed(seed);
    let rounds = each.div_ceil(things);
    let mut successors: Vec<Vec<usize>> = (0..things).map(|_| successors(things, rounds, &mut random)).collect();
    // A walk that takes each successor once is Eulerian if the last ones lead to where it began (van Aardenne-Ehrenfest and de
    // Bruijn, Simon Stevin 28 (1951) 203–217). The last is the first of the list, which is taken from its end.
    for (_, list) in successors.iter_mut().enumerate().filter(|(thing, _)| *thing != first) {
        if let Some(place) = list.iter().position(|successor| *successor == first) {
            list.swap(0, place);
        }
    }
    let mut left = vec![each; things];
    let mut order = Vec::with_capacity(things.saturating_mul(each));
    let mut next = Some(first);
    while let Some(thing) = next {
        if let Some(left) = left.get_mut(thing).filter(|left| **left > 0) {
            *left -= 1;
            order.push(thing);
        }
        next = successors.get_mut(thing).and_then(Vec::pop);
    }
    order
}

/// What follows one of the things, each time that it comes: every thing once a round, in shuffled order.
fn successors(things: usize, rounds: usize, random: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    let mut all = Vec::with_capacity(things.saturating_mul(rounds));
    let mut left = rounds;
    while left > 0 {
        let together = left.min(ROUNDS_TOGETHER);
        left -= together;
        let begin = all.len();
        all.extend((0..together).flat_map(|_| 0..things));
        random.shuffle(all.get_mut(begin..).unwrap_or_default());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How often each precedes each.
    fn pairs(order: &[usize], things: usize) -> Vec<usize> {
        let mut counts = vec![0; things * things];
        for pair in order.windows(2) {
            counts[pair[0] * things + pair[1]] += 1;
        }
        counts
    }

    proptest! {
        #[test]
        fn each_comes_as_often_as_it_was_asked(things in 1..8_usize, each in 0..200_usize, seed: u64) {
            let order = balanced_order(things, each, 0, seed);
            for thing in 0..things {
                prop_assert_eq!(order.iter().filter(|it| **it == thing).count(), each);
            }
        }

        #[test]
        fn each_precedes_each_equally_often(things in 1..8_usize, rounds in 1..40_usize, first in 0..8_usize, seed: u64) {
            let first = first % things;
            let order = balanced_order(things, rounds * things, first, seed);
            prop_assert_eq!(order[0], first);
            let mut counts = pairs(&order, things);
            // The last would lead back to the first.
            counts[order[order.len() - 1] * things + first] += 1;
            prop_assert!(counts.iter().all(|count| *count == rounds), "{:?}", counts);
        }

        #[test]
        fn a_rest_leaves_few_pairs_out(things in 2..7_usize, each in 50..200_usize, seed: u64) {
            let counts = pairs(&balanced_order(things, each, 0, seed), things);
            let fair = each as f64 / things as f64;
            prop_assert!(counts.iter().all(|count| (*count as f64 - fair).abs() < 7.0), "{:?}", counts);
        }

        /// Of two that are compared, the one is never far ahead of the other: so a slow drift falls on both alike.
        #[test]
        fn none_runs_ahead(things in 2..7_usize, seed: u64) {
            let mut counts = vec![0_i64; things];
            for thing in balanced_order(things, 600, 0, seed) {
                counts[thing] += 1;
                let ahead = counts.iter().max().unwrap() - counts.iter().min().unwrap();
                prop_assert!(ahead <= 40, "{:?}", counts);
            }
        }
    }

    #[test]
    fn another_seed_gives_another_order() {
        assert_ne!(balanced_order(3, 30, 0, 1), balanced_order(3, 30, 0, 2));
        assert_eq!(balanced_order(3, 30, 0, 1), balanced_order(3, 30, 0, 1));
    }

    #[test]
    fn what_cannot_begin_has_no_order() {
        assert!(balanced_order(0, 5, 0, 1).is_empty());
        assert!(balanced_order(2, 5, 2, 1).is_empty());
    }

    /// A balancer over five nodes accepts what comes five connections later: there must be such gaps, of only two things too.
    #[test]
    fn gaps_of_five_occur_between_two_of_a_kind() {
        for things in 2..=6 {
            for seed in 0..20 {
                let order = balanced_order(things, 100, 0, seed);
                let places: Vec<usize> = (0..order.len()).filter(|place| order[*place] == 1).collect();
                let gaps = places.windows(2).filter(|pair| pair[1] - pair[0] == 5).count();
                assert!(gaps > 0, "{things} things, seed {seed}");
            }
        }
    }
}
