//! All hypotheses together: one sum over everything that may be the case.

use crate::attempt::{JudgedConnection, SeenConnection};
use crate::cause::{Causes, JudgedCause};
use crate::one_node::{KeyNames, OneNode};
use crate::prior::{RESTART_RATES, RESTARTS, ROTATIONS, UNKNOWN, UNKNOWN_WITHOUT_STRUCTURE, hypotheses, rotation_periods};
use crate::restarts::Restarts;
use crate::rotations::Rotations;
use crate::routed::Routed;
use crate::unknown::{By, Unknown};

/// All hypotheses, and how probable each has become.
#[derive(Clone, Debug)]
pub struct Judge {
    pub(crate) one_node: Vec<OneNode>,
    pub(crate) routed: Vec<Routed>,
    pub(crate) restarts: Vec<Restarts>,
    pub(crate) rotations: Vec<Rotations>,
    pub(crate) unknown: Vec<Unknown>,
    names: KeyNames,
    observed: u32,
}

impl Default for Judge {
    fn default() -> Self {
        Self::new()
    }
}

impl Judge {
    /// Of a server of which nothing is known.
    pub fn new() -> Self {
        let (mut one_node, mut routed) = (Vec::new(), Vec::new());
        for hypothesis in hypotheses() {
            match hypothesis.route.clone() {
                None => one_node.push(OneNode::new(hypothesis)),
                Some(route) => routed.push(Routed::new(hypothesis, route)),
            }
        }
        let structured = UNKNOWN / By::ALL.len() as f64;
        let prior = |by| if by == By::Nothing { UNKNOWN_WITHOUT_STRUCTURE } else { structured };
        Self {
            one_node,
            routed,
            restarts: RESTART_RATES.map(|rate| Restarts::new(rate, RESTARTS / RESTART_RATES.len() as f64)).into(),
            rotations: rotation_periods()
                .map(|period| Rotations::new(period, ROTATIONS / rotation_periods().len() as f64))
                .collect(),
            unknown: By::ALL.map(|by| Unknown::new(by, prior(by))).into(),
            names: KeyNames::default(),
            observed: 0,
        }
    }

    /// Weighs what was seen of an attempt under every hypothesis.
    pub fn observe(&mut self, attempt: &JudgedConnection, seen: &SeenConnection) {
        if seen.key.is_none() && !seen.outcome.is_failure() {
            self.names.are_hidden = true;
        }
        // A sequence of low discrepancy: multiples of the golden ratio.
        let lot = (f64::from(self.observed).mul_add(0.618_033_988_749_895, 0.5)).fract();
        self.one_node.iter_mut().for_each(|it| it.observe(attempt, seen, &self.names));
        self.routed.iter_mut().for_each(|it| it.observe(attempt, seen, &self.names, lot));
        self.restarts.iter_mut().for_each(|it| it.observe(attempt, seen, &self.names));
        self.rotations.iter_mut().for_each(|it| it.observe(attempt, seen, &self.names));
        self.unknown.iter_mut().for_each(|it| it.observe(attempt, seen, &self.names));
        self.names.note(attempt, seen);
        self.observed += 1;
    }

    /// The causes of each hypothesis and how probable it is: of one node, routed, restarts, rotations, unknown. The sum is 1.
    pub fn posterior(&self) -> Vec<(Causes, f64)> {
        let one_node = self.one_node.iter().map(|it| (it.hypothesis().causes, it.log_weight));
        let routed = self.routed.iter().map(|it| (it.hypothesis().causes, it.log_weight));
        let restarts = self.restarts.iter().map(|it| (Causes::of(&[JudgedCause::Restart]), it.log_weight));
        let rotations = self.rotations.iter().map(|it| (Causes::of(&[JudgedCause::Rotation]), it.log_weight));
        let unknown = self.unknown.iter().map(|it| (Causes::of(&[JudgedCause::Unknown]), it.log_weight));
        let mut all: Vec<(Causes, f64)> = one_node.chain(routed).chain(restarts).chain(rotations).chain(unknown).collect();
        let most = all.iter().map(|(_, weight)| *weight).fold(f64::NEG_INFINITY, f64::max);
        all.iter_mut().for_each(|(_, weight)| *weight = (*weight - most).exp());
        let sum: f64 = all.iter().map(|(_, weight)| *weight).sum();
        all.iter_mut().for_each(|(_, weight)| *weight /= sum);
        all
    }

    /// The odds of one of these causes: all hypotheses that have one against all that have none.
    pub fn odds(&self, causes: &[JudgedCause]) -> f64 {
        odds(&self.posterior(), Causes::of(causes))
    }
}

pub(crate) fn odds(posterior: &[(Causes, f64)], causes: Causes) -> f64 {
    let (mut present, mut absent) = (0.0, 0.0);
    for (own, weight) in posterior {
        *if own.has_any(causes) { &mut present } else { &mut absent } += weight;
    }
    present / absent.max(1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::{ConnectionOutcome, OfferVariation, OfferedSession, PriorOffers};

    /// Connections at these times that give these key names; each offers the session of the one before, which is resumed where the key is
    /// the same.
    fn judged(connections: &[(f64, u32)]) -> Judge {
        let mut judge = Judge::new();
        for (connection, (at, key)) in connections.iter().copied().enumerate() {
            let before = connection.checked_sub(1).map(|before| connections[before]);
            let gap = before.map_or(0.0, |(earlier, _)| at - earlier);
            let offered = connection.checked_sub(1).map(|from| OfferedSession {
                from,
                age: gap,
                others: 0,
                used: 0,
                depth: 0,
                earlier: PriorOffers::default(),
            });
            let is_known = before.is_some_and(|(_, named)| named == key);
            let outcome = if is_known { ConnectionOutcome::Resumed } else { ConnectionOutcome::Full };
            let attempt = JudgedConnection { connection, at, gap, offered, variation: OfferVariation::Plain };
            judge.observe(&attempt, &SeenConnection { outcome, key: Some(key) });
        }
        judge
    }

    /// Six connections in a second under each key; the process that is told to end answers one more.
    #[test]
    fn a_key_that_is_replaced_under_graceful_reloads_is_no_node() {
        let period = 2.4;
        let under = |key: u32| (0..12).map(move |place| (f64::from(key).mul_add(period, f64::from(place) * 0.2), key));
        let mut connections: Vec<(f64, u32)> = (0..4).flat_map(under).collect();
        // The second connection after each change.
        (0..connections.len())
            .rev()
            .filter(|place| place % 12 == 1 && *place > 12)
            .for_each(|place| connections[place].1 -= 1);
        let judge = judged(&connections);
        let (nodes, changed) =
            (judge.odds(&[JudgedCause::NotShared]), judge.odds(&[JudgedCause::Rotation, JudgedCause::Restart]));
        assert!(changed > 20.0 && nodes < 0.1, "{changed} and {nodes}");
    }

    #[test]
    fn names_that_come_again_later_are_nodes() {
        let connections: Vec<(f64, u32)> = (0..30).map(|place| (f64::from(place) * 0.2, place as u32 / 3 % 2)).collect();
        let judge = judged(&connections);
        assert!(judge.odds(&[JudgedCause::NotShared]) > 20.0, "{}", judge.odds(&[JudgedCause::NotShared]));
    }
}
