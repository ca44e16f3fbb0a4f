//! The search for the highest rate that a server holds within a latency.

use std::io;
use std::time::Duration;

use reprise_trace::Nanos;
use reprise_trace::document::{LoadDocument, LoadStep, LoadStepTarget, Provenance, Target};

use crate::load::{Observer, Outcome, run};
use crate::options::{Arrival, End, Options};

/// What is to be held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepTarget {
    /// Which quantile of the latency, 0.99 for instance, from the intended start to the end.
    pub quantile: f64,
    /// What it must not exceed.
    pub latency: Nanos,
    /// How long each rate is tried.
    pub duration: Duration,
}

/// The search ends when what held and what did not are this near.
const NEAR: f64 = 1.05;

/// It ends in any case.
const MOST_STEPS: usize = 24;

/// What a search found.
pub struct Search {
    /// Of the highest rate that held, or else of the first that was tried.
    pub outcome: Outcome,
    /// Its options.
    pub options: Options,
    /// Whether the target was gone when the last one ended.
    pub target_is_gone: bool,
    /// Every rate that was tried, in order.
    pub steps: Vec<LoadStep>,
    /// What they had to hold.
    pub target: StepTarget,
}

impl Search {
    /// The document of this search: that of [`Search::outcome`], with every rate that was tried.
    pub fn document(&self, target: Target, interrupted: bool, provenance: Provenance) -> LoadDocument {
        let mut document = self.outcome.document(&self.options, target, interrupted, provenance);
        document.steps = self.steps.clone();
        document.asked.step = Some(LoadStepTarget { quantile: self.target.quantile, latency_ns: self.target.latency.0 });
        document
    }
}

/// Searches from the rate of `options`, an open loop: it doubles until one fails, and then halves the distance.
///
/// # Errors
/// As [`run`].
pub fn search(
    options: &Options,
    target: StepTarget,
    stop: &(dyn Fn() -> bool + Sync),
    observer: &dyn Observer,
) -> io::Result<Option<Search>> {
    let Arrival::Open { rate: first, spread, most } = options.arrival else { return Ok(None) };
    let (mut held, mut failed): (Option<f64>, Option<f64>) = (None, None);
    let mut rate = first;
    let mut best = None;
    let mut target_is_gone = false;
    let mut steps = Vec::new();
    while steps.len() < MOST_STEPS && !stop() {
        let options =
            Options { arrival: Arrival::Open { rate, spread, most }, end: End::After(target.duration), ..options.clone() };
        let outcome = run(&options, stop, observer)?;
        // What was cut short says nothing of its rate.
        if stop() && best.is_some() {
            break;
        }
        let step = judge(&outcome, &options, rate, target);
        let passed = step.passed;
        steps.push(step);
        target_is_gone = outcome.target_is_gone();
        if target_is_gone && outcome.summary.completed() == 0 && best.is_some() {
            break;
        }
        if passed || best.is_none() {
            best = Some((outcome, options));
        }
        if passed {
            held = Some(held.map_or(rate, |held: f64| held.max(rate)));
        } else {
            failed = Some(failed.map_or(rate, |failed: f64| failed.min(rate)));
        }
        rate = match (held, failed) {
            (Some(held), None) => held * 2.0,
            (None, Some(failed)) if failed < 1.0 => break,
            (None, Some(failed)) => failed / 2.0,
            (Some(held), Some(failed)) if failed <= held * NEAR => break,
            (Some(held), Some(failed)) => (held + failed) / 2.0,
            (None, None) => break,
        };
    }
    Ok(best.map(|(outcome, options)| Search { outcome, options, target_is_gone, steps, target }))
}

fn judge(outcome: &Outcome, options: &Options, rate: f64, target: StepTarget) -> LoadStep {
    let held = outcome.summary.in_time as f64 / target.duration.as_secs_f64().max(1e-9);
    let latency_ns = outcome.latency_from_intended(target.quantile);
    let errors = outcome.errors().values().sum();
    let passed = errors == 0 && outcome.held_its_rate(options) && latency_ns <= target.latency.0;
    LoadStep { rate, held, latency_ns, errors, passed }
}
