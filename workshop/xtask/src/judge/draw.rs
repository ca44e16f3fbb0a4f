use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A random number generator with the draws that worlds are made of.
pub(crate) struct Draw(ChaCha8Rng);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// As often from 1 to 2 as from 2 to 4.
    pub(crate) fn scale(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    pub(crate) fn count(&mut self, low: usize, high: usize) -> usize {
        low + (self.0.next_u64() % (high - low + 1) as u64) as usize
    }

    pub(crate) fn is(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.count(0, all.len() - 1)]
    }

    /// How many came in a time in which `mean` come on average.
    pub(crate) fn arrivals(&mut self, mean: f64) -> usize {
        let (mut left, mut count) = (mean, 0);
        while left > 0.0 && count < 10_000 {
            left += self.unit().max(1e-12).ln();
            count += usize::from(left > 0.0);
        }
        count
    }
}
