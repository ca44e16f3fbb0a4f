//! How much an attempt would tell of the leading hypotheses.

use std::collections::HashMap;

use crate::attempt::JudgedConnection;
use crate::cause::Causes;
use crate::judge::Judge;
use crate::route::Positions;

/// What is weighed against each other when an attempt is chosen: hypotheses of equal causes are one class.
pub(crate) struct Rivals<'a> {
    judge: &'a Judge,
    /// The class of each hypothesis and its probability within the class; in the order of the posterior.
    members: Vec<(usize, f64)>,
    /// How much each class counts.
    shares: Vec<f64>,
    ahead: HashMap<(usize, u64), Vec<Positions>>,
}

/// Which rivals count, and how evenly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    /// Those that are less probable than this, against the most probable, are left out.
    pub(crate) least: f64,
    /// A class counts with this power of its probability, so unlikely ones are looked at too.
    pub(crate) power: f64,
}

impl<'a> Rivals<'a> {
    pub(crate) fn new(judge: &'a Judge, posterior: &[(Causes, f64)], attention: Attention) -> Self {
        let mut classes: Vec<(Causes, f64)> = Vec::new();
        let mut members = Vec::with_capacity(posterior.len());
        let mut places: HashMap<Causes, usize> = HashMap::new();
        for (causes, weight) in posterior {
            let class = *places.entry(*causes).or_insert(classes.len());
            if class == classes.len() {
                classes.push((*causes, 0.0));
            }
            classes[class].1 += weight;
            members.push((class, *weight));
        }
        for (class, weight) in &mut members {
            *weight /= classes[*class].1.max(1e-300);
        }
        let most = classes.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        let counts = |share: f64| if share > attention.least * most { share.powf(attention.power) } else { 0.0 };
        let mut shares: Vec<f64> = classes.iter().map(|(_, share)| counts(*share)).collect();
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|it| *it /= sum);
        Self { judge, members, shares, ahead: HashMap::new() }
    }

    /// The bits that the outcome of this attempt would tell of the classes, on average.
    pub(crate) fn gain(&mut self, attempt: &JudgedConnection) -> f64 {
        let mut predicted = vec![(0.0, 0.0); self.shares.len()];
        for place in 0..self.members.len() {
            let (class, weight) = self.members[place];
            if self.shares[class] == 0.0 || weight < NEGLIGIBLE {
                continue;
            }
            let (resumed, failed) = self.predict(place, attempt);
            // As unlikely as unexplained events are, so that nothing is expected to decide alone.
            predicted[class].0 += weight * (0.98 * failed + 0.004);
            predicted[class].1 += weight * (1.0 - failed) * (0.97 * resumed + 0.01);
        }
        let outcomes = predicted.iter().map(|(failed, resumed)| [*failed, *resumed, 1.0 - failed - resumed]);
        let mut mean = [0.0; 3];
        let mut told = 0.0;
        for (outcome, share) in outcomes.zip(&self.shares).filter(|(_, share)| **share > 0.0) {
            for (sum, probability) in mean.iter_mut().zip(outcome) {
                let probability = probability.clamp(1e-9, 1.0);
                *sum += share * probability;
                told += share * probability * probability.log2();
            }
        }
        told - mean.iter().map(|it| it * it.max(1e-9).log2()).sum::<f64>()
    }

    fn predict(&mut self, place: usize, attempt: &JudgedConnection) -> (f64, f64) {
        let Judge { one_node, routed, restarts, rotations, unknown, .. } = self.judge;
        if let Some(hypothesis) = one_node.get(place) {
            return hypothesis.predict(attempt);
        }
        let place = place - one_node.len();
        if let Some(hypothesis) = routed.get(place) {
            let ahead = self.ahead.entry((place, attempt.gap.to_bits())).or_insert_with(|| hypothesis.ahead(attempt.gap));
            return hypothesis.predict(attempt, ahead);
        }
        let place = place - routed.len();
        if let Some(hypothesis) = restarts.get(place) {
            return hypothesis.predict(attempt);
        }
        let place = place - restarts.len();
        match rotations.get(place) {
            Some(hypothesis) => hypothesis.predict(attempt),
            None => unknown[place - rotations.len()].predict(attempt),
        }
    }
}

/// A hypothesis that is less probable than this within its class changes nothing in what the class predicts.
const NEGLIGIBLE: f64 = 1e-5;
