//! The search for the highest rate that a server holds within a latency.

use std::io;
use std::time::Duration;

use reprise_model::document::{LoadDocument, LoadStep, LoadStepTarget, Provenance, Target};
use reprise_model::{BottleneckReason, Nanos};

use crate::load::{LoadObserver, LoadOutcome, run};
use crate::options::{Arrival, LoadEnd, LoadOptions};

/// What is to be held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepTarget {
    /// Which quantile of the latency, 0.99 for instance, from the intended start to the end.
    pub quantile: f64,
    /// What it must not exceed.
    pub latency: Nanos,
    /// How long each rate is tried, unless too few connections would come of it.
    pub duration: Duration,
}

/// The search ends when what held and what did not are this near.
const NEAR: f64 = 1.05;

/// It ends in any case.
const MOST_STEPS: usize = 24;

/// A rate is judged by no fewer connections.
const FEWEST_SAMPLES: f64 = 30.0;

/// A Poisson process has fewer than its rate says by chance, seldom by so many standard deviations.
const CHANCE: f64 = 4.0;

/// Nor is one tried for longer than this to have them, unless all are.
const LONGEST_STEP: Duration = Duration::from_secs(60);

/// After a rate that the server did not hold, the next is this much of what it did: as many come in as go out.
const BELOW_CAPACITY: f64 = 0.9;

/// What a search found.
pub struct Search {
    /// Of the highest rate that held, or else of the last that was tried.
    pub outcome: LoadOutcome,
    /// Its options.
    pub options: LoadOptions,
    /// Whether the target was gone when the last one ended.
    pub target_is_gone: bool,
    /// Every rate that was tried, in order.
    pub steps: Vec<LoadStep>,
    /// What they had to hold.
    pub target: StepTarget,
}

impl Search {
    /// Who was the bottleneck of [`Search::outcome`]; not nobody, where no rate that was tried kept the latency.
    pub fn reason(&self) -> BottleneckReason {
        match self.outcome.reason(&self.options) {
            BottleneckReason::RateHeld if !self.steps.iter().any(|step| step.passed) => BottleneckReason::LatencyMissed,
            reason => reason,
        }
    }

    /// The document of this search: that of [`Search::outcome`], with every rate that was tried.
    pub fn document(&self, target: Target, interrupted: bool, provenance: Provenance) -> LoadDocument {
        let mut document = self.outcome.document(&self.options, target, interrupted, provenance);
        document.bottleneck.verdict = self.reason().verdict();
        document.steps = self.steps.clone();
        document.asked.step = Some(LoadStepTarget { quantile: self.target.quantile, latency_ns: self.target.latency.0 });
        document
    }
}

impl StepTarget {
    /// A quantile of fewer samples is their largest.
    fn fewest_samples(self) -> f64 {
        let beyond = (1.0 - self.quantile).max(1e-6);
        // 1 / (1 - 0.99) is a little more than 100.
        (1.0 / beyond).round().max(FEWEST_SAMPLES)
    }

    /// The lowest rate that can be judged.
    fn lowest_rate(self, ramp: Duration) -> f64 {
        let samples = self.fewest_samples();
        let room = LONGEST_STEP.max(self.duration).saturating_sub(ramp).as_secs_f64();
        // A little more, so that the time for it is not too long by a rounding.
        if room > 0.0 { (samples + CHANCE * samples.sqrt()) / room * 1.001 } else { 0.0 }
    }

    /// How long this rate is tried; `None` where as many connections as it is judged by would take too long.
    fn duration_of(self, rate: f64, ramp: Duration) -> Option<Duration> {
        let samples = self.fewest_samples();
        let needed = Duration::try_from_secs_f64((samples + CHANCE * samples.sqrt()) / rate).ok()?.saturating_add(ramp);
        (needed <= LONGEST_STEP.max(self.duration)).then(|| needed.max(self.duration))
    }
}

/// Searches from the rate of `options`, an open loop, or from the lowest that can be judged: it doubles until one fails, and
/// then halves the distance. Where the first fails, it goes on from what the server held of it.
///
/// # Errors
/// As [`run`].
pub fn search(
    options: &LoadOptions,
    target: StepTarget,
    stop: &(dyn Fn() -> bool + Sync),
    observer: &dyn LoadObserver,
) -> io::Result<Option<Search>> {
    let Arrival::Open { rate: first, spread, most } = options.arrival else { return Ok(None) };
    let mut bounds = Bounds::default();
    let mut rate = first.max(target.lowest_rate(options.ramp));
    let mut best = None;
    let mut target_is_gone = false;
    let mut steps = Vec::new();
    while steps.len() < MOST_STEPS && !stop() {
        // Without time for any, the first is tried all the same: somebody has named it.
        let duration = match target.duration_of(rate, options.ramp) {
            Some(duration) => duration,
            None if steps.is_empty() => target.duration,
            None => break,
        };
        let options =
            LoadOptions { arrival: Arrival::Open { rate, spread, most }, end: LoadEnd::After(duration), ..options.clone() };
        observer.tries(rate);
        let outcome = run(&options, stop, observer)?;
        // What was cut short says nothing of its rate.
        if stop() && best.is_some() {
            break;
        }
        let step = judge(&outcome, &options, rate, duration, target);
        target_is_gone = outcome.target_is_gone();
        if target_is_gone && step.samples == 0 && best.is_some() {
            steps.push(step);
            break;
        }
        if step.passed || bounds.held.is_none() {
            best = Some((outcome, options));
        }
        let next = bounds.after(&step);
        steps.push(step);
        match next {
            Some(next) => rate = next,
            None => break,
        }
    }
    Ok(best.map(|(outcome, options)| Search { outcome, options, target_is_gone, steps, target }))
}

/// The highest rate that held, and the lowest that did not.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    held: Option<f64>,
    failed: Option<f64>,
}

impl Bounds {
    /// The rate to try after this step; `None` where both bounds are near.
    fn after(&mut self, step: &LoadStep) -> Option<f64> {
        if step.passed {
            self.held = Some(self.held.map_or(step.rate, |held| held.max(step.rate)));
        } else {
            self.failed = Some(self.failed.map_or(step.rate, |failed| failed.min(step.rate)));
        }
        match (self.held, self.failed) {
            (Some(held), None) => Some(held * 2.0),
            // Far beyond what the server can do, it does all that it can: what lies between need not be tried.
            (None, Some(failed)) if step.held > 0.0 => Some((step.held * BELOW_CAPACITY).min(failed / 2.0)),
            (None, Some(failed)) => Some(failed / 2.0),
            (Some(held), Some(failed)) if failed <= held * NEAR => None,
            (Some(held), Some(failed)) => Some((held * 2.0).min((held + failed) / 2.0)),
            (None, None) => None,
        }
    }
}

fn judge(outcome: &LoadOutcome, options: &LoadOptions, rate: f64, duration: Duration, target: StepTarget) -> LoadStep {
    let completed = outcome.summary.completed();
    let samples = completed + outcome.late();
    let latency_ns = outcome.latency_from_intended(target.quantile);
    let (errors, not_started) = (outcome.errors().values().sum(), outcome.not_started());
    let is_enough = samples as f64 >= target.fewest_samples();
    let is_all = errors == 0 && not_started == 0 && outcome.held_its_rate(options);
    LoadStep {
        rate,
        held: completed as f64 / duration.as_secs_f64().max(1e-9),
        latency_ns,
        samples,
        errors,
        not_started,
        passed: is_enough && is_all && latency_ns <= target.latency.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search that begins far too low judges its first rate all the same.
    #[test]
    fn the_lowest_rate_is_just_long_enough_to_be_judged() {
        for quantile in [0.5, 0.99, 0.999] {
            let target = StepTarget { quantile, latency: Nanos(1), duration: Duration::from_secs(10) };
            let lowest = target.lowest_rate(Duration::ZERO);
            assert!(target.duration_of(lowest, Duration::ZERO).is_some(), "{quantile}: {lowest}");
            assert_eq!(target.duration_of(lowest * 0.99, Duration::ZERO), None);
        }
    }
}
