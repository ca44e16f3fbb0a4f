//! The seeded generator behind the resamples.

/// An event that happens with one probability again and again, each time by itself.
pub struct Chance {
    random: Xoshiro256PlusPlus,
    probability: f64,
}

impl Chance {
    /// The same events for the same seed. A probability is from 0 to 1.
    pub fn new(probability: f64, seed: u64) -> Self {
        Self { random: Xoshiro256PlusPlus::from_seed(seed), probability }
    }

    /// Whether it happens now.
    pub fn happens(&mut self) -> bool {
        // 53 bits are what an f64 holds.
        ((self.random.next_u64() >> 11) as f64) < self.probability * (1_u64 << 53) as f64
    }
}

/// xoshiro256++ of Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM Transactions on
/// Mathematical Software 47 (2021), its state filled by SplitMix64 as its authors advise. Small, fast and good enough
/// for statistics; never for keys.
pub(crate) struct Xoshiro256PlusPlus {
    state: [u64; 4],
}

impl Xoshiro256PlusPlus {
    pub(crate) fn from_seed(mut seed: u64) -> Self {
        Self { state: std::array::from_fn(|_| split_mix_64(&mut seed)) }
    }

    /// 64 fair bits.
    pub(crate) fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// The number of heads among `throws` of a fair coin.
    pub(crate) fn heads(&mut self, throws: usize) -> usize {
        let whole: u32 = (0..throws / 64).map(|_| self.next_u64().count_ones()).sum();
        let rest = self.next_u64() & !(u64::MAX << (throws % 64));
        (whole + rest.count_ones()) as usize
    }

    /// Puts them into an order of which each is as likely as any other (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
    }

    /// A whole number under `bound`, which is above 0: the upper bits of a product (Lemire, ACM Transactions on Modeling and
    /// Computer Simulation 29 (2019)), without its correction of a bias that is under 2⁻⁴⁰ here.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A standard exponential variate, finite and above 0.
    pub(crate) fn exponential(&mut self) -> f64 {
        // 53 bits, the precision of f64, moved by half a step so that neither 0 nor 1 can occur.
        let uniform = ((self.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        -uniform.ln()
    }
}

/// Brings the items into a random order that follows from `seed`, each as likely as any other.
pub fn shuffle<T>(items: &mut [T], seed: u64) {
    Xoshiro256PlusPlus::from_seed(seed).shuffle(items);
}

fn split_mix_64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the authors' reference `xoshiro256plusplus.c` from the state 1, 2, 3, 4.
    #[test]
    fn outputs_equal_the_reference() {
        let mut random = Xoshiro256PlusPlus { state: [1, 2, 3, 4] };
        let expected: [u64; 6] =
            [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205, 9973669472204895162];
        assert_eq!(std::array::from_fn(|_| random.next_u64()), expected);
    }

    /// The first outputs of the author's reference `splitmix64.c` from the state 1234567.
    #[test]
    fn the_state_is_filled_as_by_the_reference() {
        let expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431];
        assert_eq!(Xoshiro256PlusPlus::from_seed(1234567).state, expected);
    }

    #[test]
    fn every_order_is_as_likely_as_any_other() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, seed);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Five standard deviations.
        assert!(counts.values().all(|count| (856..=1144).contains(count)), "{counts:?}");
    }

    #[test]
    fn heads_have_the_binomial_mean_and_spread() {
        let mut random = Xoshiro256PlusPlus::from_seed(5);
        for throws in [1, 63, 64, 65, 1000] {
            let heads: Vec<f64> = (0..20_000).map(|_| random.heads(throws) as f64).collect();
            let mean = heads.iter().sum::<f64>() / 20_000.0;
            let variance = heads.iter().map(|h| (h - mean).powi(2)).sum::<f64>() / 20_000.0;
            let (expected_mean, expected_variance) = (throws as f64 / 2.0, throws as f64 / 4.0);
            assert!((mean - expected_mean).abs() < 5.0 * (expected_variance / 20_000.0).sqrt(), "{throws}: {mean}");
            assert!((variance / expected_variance - 1.0).abs() < 0.05, "{throws}: {variance}");
        }
    }

    #[test]
    fn exponentials_have_mean_and_spread_one() {
        let mut random = Xoshiro256PlusPlus::from_seed(6);
        let draws: Vec<f64> = (0..100_000).map(|_| random.exponential()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.02 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
        assert!(draws.iter().all(|draw| draw.is_finite() && *draw > 0.0));
    }
}
