//! How often the 95 % intervals cover the truth, by simulation, as a Markdown table: the one in
//! `docs/decisions/0003-intervals.md`. It runs for some minutes:
//!
//! ```sh
//! cargo run --release -p reprise-stats --example coverage
//! ```

#![allow(clippy::print_stdout)]

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use reprise_stats::{Ratio, paired_ratio, ratio, summarize};

const TRIALS: u32 = 2000;

/// From a uniform number to a sample in nanoseconds; the true median is the sample of 1/2.
type Shape = fn(f64) -> f64;

const SHAPES: [(&str, Shape); 7] = [
    ("uniform", |u| 1e6 + 1e6 * u),
    ("skewed (exponential)", |u| -(1.0 - u).ln() * 1e6),
    ("heavy tail (Pareto 1.1)", |u| (1.0 - u).powf(-1.0 / 1.1) * 1e6),
    ("heavy tails (Cauchy)", |u| 1e8 + (std::f64::consts::PI * (u - 0.5)).tan() * 1e7),
    ("bimodal, 75 in 100 fast", |u| two_modes(u, 0.75)),
    ("bimodal, 60 in 100 fast", |u| two_modes(u, 0.6)),
    ("bimodal, 52 in 100 fast", |u| two_modes(u, 0.52)),
];

fn main() {
    println!("| samples | shape | median | ratio | paired ratio | paired ratio, common drift |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for n in [20, 21, 30, 50, 100, 1000] {
        for (seed, (name, shape)) in (1..).zip(SHAPES) {
            let mut trials = Trials { random: ChaCha8Rng::seed_from_u64(seed), n, shape };
            let covered: [f64; 4] = [
                percent(|seed| trials.median(seed)),
                percent(|seed| trials.ratio(seed)),
                percent(|seed| trials.paired_ratio(seed)),
                percent(|seed| trials.drifting_ratio(seed)),
            ];
            let [median, ratio, paired, drifting] = covered;
            println!("| {n} | {name} | {median:.1} | {ratio:.1} | {paired:.1} | {drifting:.1} |");
        }
    }
}

fn percent(mut covers: impl FnMut(u64) -> bool) -> f64 {
    let covered = (0..TRIALS).filter(|&trial| covers(u64::from(trial))).count();
    covered as f64 * 100.0 / f64::from(TRIALS)
}

/// Every trial draws new samples and gives its own seed to the bootstrap.
struct Trials {
    random: ChaCha8Rng,
    n: usize,
    shape: Shape,
}

impl Trials {
    fn median(&mut self, seed: u64) -> bool {
        let truth = (self.shape)(0.5) as u64;
        let interval = summarize(&self.samples(1.0), seed).and_then(|summary| summary.ci95);
        interval.is_some_and(|[low, high]| low <= truth && truth <= high)
    }

    fn ratio(&mut self, seed: u64) -> bool {
        covers_three(ratio(&self.samples(3.0), &self.samples(1.0), seed))
    }

    fn paired_ratio(&mut self, seed: u64) -> bool {
        let rounds: Vec<(u64, u64)> = self.samples(3.0).into_iter().zip(self.samples(1.0)).collect();
        covers_three(paired_ratio(&rounds, seed))
    }

    /// Each round as a whole is up to twice as slow, so that its two samples go together.
    fn drifting_ratio(&mut self, seed: u64) -> bool {
        let rounds: Vec<(u64, u64)> = (0..self.n)
            .map(|_| {
                let slower = 1.0 + self.uniform();
                let (from, to) = (self.uniform(), self.uniform());
                ((3.0 * slower * (self.shape)(from)) as u64, (slower * (self.shape)(to)) as u64)
            })
            .collect();
        covers_three(paired_ratio(&rounds, seed))
    }

    fn samples(&mut self, factor: f64) -> Vec<u64> {
        (0..self.n).map(|_| (factor * (self.shape)(self.uniform())) as u64).collect()
    }

    fn uniform(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

fn covers_three(ratio: Option<Ratio>) -> bool {
    ratio.and_then(|ratio| ratio.ci95).is_some_and(|[low, high]| low <= 3.0 && 3.0 <= high)
}

/// A fast mode around 1.05 ms and a slow one around 3.5 ms, with nothing between.
fn two_modes(u: f64, fast: f64) -> f64 {
    if u < fast { 1e6 + 1e5 * u / fast } else { 3e6 + 1e6 * (u - fast) / (1.0 - fast) }
}
