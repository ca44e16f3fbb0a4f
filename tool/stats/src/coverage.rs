//! How often the intervals cover the truth, by simulation over shapes that measured latencies take.
//!
//! `examples/coverage.rs` prints the same over more shapes and sizes, through the public functions.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::bootstrap::median_positions;
use crate::paired_ratio;
use crate::quantile::{ascending, value_at};

/// From a uniform number to a sample; the true median is the sample of 1/2.
type Shape = fn(f64) -> f64;

const SHAPES: [(&str, Shape); 4] = [
    ("skewed: exponential", |u| -(1.0 - u).ln() * 1e6),
    ("heavy-tailed: Pareto of index 1.1", |u| (1.0 - u).powf(-1.0 / 1.1) * 1e6),
    ("bimodal: 60 in 100 fast", |u| if u < 0.6 { 1e6 + 1e5 * u } else { 3e6 + 1e6 * u }),
    ("heavy on both sides: Cauchy", |u| 1e8 + (std::f64::consts::PI * (u - 0.5)).tan() * 1e7),
];

#[test]
fn intervals_cover_the_median_95_times_in_100() {
    const TRIALS: usize = 4000;
    for n in [20, 21, 50, 100] {
        let [low, high] = median_positions(n, 1).unwrap();
        for (shape, sample) in SHAPES {
            let mut random = Uniform::new(2);
            let truth = sample(0.5) as u64;
            let covered = (0..TRIALS).filter(|_| {
                let sorted = ascending(&random.samples(n, sample));
                let low = value_at(&sorted, low, f64::floor).unwrap();
                let high = value_at(&sorted, high, f64::ceil).unwrap();
                low <= truth && truth <= high
            });
            let coverage = covered.count() as f64 / TRIALS as f64;
            assert!((0.935..=0.965).contains(&coverage), "{shape}, n = {n}: {coverage}");
        }
    }
}

#[test]
fn paired_intervals_cover_the_ratio_95_times_in_100() {
    const TRIALS: usize = 150;
    for (shape, sample) in SHAPES.into_iter().take(3) {
        let mut random = Uniform::new(3);
        let covered = (0..TRIALS).filter(|_| {
            let from = random.samples(50, |u| 3.0 * sample(u));
            let to = random.samples(50, sample);
            let rounds: Vec<(u64, u64)> = from.into_iter().zip(to).collect();
            let [low, high] = paired_ratio(&rounds, 1).unwrap().ci95.unwrap();
            low <= 3.0 && 3.0 <= high
        });
        let coverage = covered.count() as f64 / TRIALS as f64;
        // Three standard errors of 150 trials are 0.053.
        assert!((0.91..=0.995).contains(&coverage), "{shape}: {coverage}");
    }
}

struct Uniform(ChaCha8Rng);

impl Uniform {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn samples(&mut self, n: usize, shape: impl Fn(f64) -> f64) -> Vec<u64> {
        (0..n).map(|_| shape(((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64) as u64).collect()
    }
}
