//! How many nodes there are and how one of them is chosen, where only several nodes explain what was seen.

use std::collections::BTreeMap;

use reprise_model::document::{BalancedNodes, BalancingPolicy};

use crate::judge::Judge;
use crate::route::{Choice, POSITIONS, Route};

/// How probable it has to be that there are several.
const SURE: f64 = 0.99;
/// How probable a way of choosing has to be, where there are.
const SURE_OF_POLICY: f64 = 0.99;
/// What lies beyond either end of the interval.
const BEYOND: f64 = 0.025;

impl Judge {
    /// The nodes, where it is sure that there are several.
    pub fn nodes(&self) -> Option<BalancedNodes> {
        let posterior = self.posterior();
        let (mut all, mut more) = (0.0, 0.0);
        let (mut counts, mut policies) = (BTreeMap::<u32, f64>::new(), BTreeMap::<BalancingPolicy, f64>::new());
        for ((_, weight), routed) in posterior.iter().skip(self.one_node.len()).zip(&self.routed) {
            let route = routed.route();
            all += weight;
            *counts.entry(route.node_count() as u32).or_default() += weight;
            *policies.entry(route.policy()).or_default() += weight;
            // As many as can be told apart: by chance, more would look much the same.
            let is_edge = route.node_count() == POSITIONS && !matches!(route.choice, Choice::InTurn { .. });
            more += if is_edge { *weight } else { 0.0 };
        }
        if all < SURE {
            return None;
        }
        let (likely, weight) =
            counts.iter().max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(count, weight)| (*count, *weight))?;
        let likely_percent = Some((100.0 * weight / all).floor() as u32);
        let low = first_beyond(counts.iter(), BEYOND * all)?;
        let high = first_beyond(counts.iter().rev(), BEYOND * all)?;
        let policy = policies.into_iter().find(|(_, weight)| *weight > SURE_OF_POLICY * all).map(|(policy, _)| policy);
        Some(BalancedNodes { low, likely, likely_percent, high: (more < BEYOND * all).then_some(high), policy })
    }
}

/// The first of these numbers up to which, itself included, more than this weight lies.
fn first_beyond<'c>(mut counts: impl Iterator<Item = (&'c u32, &'c f64)>, beyond: f64) -> Option<u32> {
    let mut sum = 0.0;
    let found = counts.find(|(_, weight)| {
        sum += **weight;
        sum > beyond
    });
    found.map(|(count, _)| *count)
}

impl Route {
    /// How many nodes there are. One that is down, accepts nothing, or differs from others that share, is one of as many as positions.
    fn node_count(&self) -> usize {
        let mut distinct = self.nodes.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let is_one_unlike = self.off.or(self.down).or(self.breaks).is_some();
        if is_one_unlike || self.first_differs() { self.len() } else { distinct.len() }
    }

    /// Whether the first position has a node of its own and all others share.
    fn first_differs(&self) -> bool {
        self.nodes.first() == Some(&1) && self.nodes.iter().skip(1).all(|node| *node == 0)
    }

    fn policy(&self) -> BalancingPolicy {
        match &self.choice {
            Choice::InTurn { .. } if self.node_count() == self.len() => BalancingPolicy::InTurn,
            Choice::ByChance { stays, .. } if *stays > 0.0 => BalancingPolicy::Sticky,
            Choice::ByChance { weights, .. } if weights.windows(2).all(|pair| pair[0] == pair[1]) => BalancingPolicy::Random,
            _ => BalancingPolicy::Weighted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answered, Budget, ConnectionAnswer, ConnectionOutcome, ServerExamination};

    /// What is said of nodes with a key each, named by it or not, of which `choose` takes one for each connection.
    fn examined(are_named: bool, mut choose: impl FnMut(usize) -> usize) -> Option<BalancedNodes> {
        let mut examination = ServerExamination::new(Budget { connections: 60, seconds: 40.0 });
        let (mut now, mut nodes) = (0.0, Vec::new());
        while let Some(request) = examination.next_request() {
            now += request.after.unwrap_or(0.03);
            let node = choose(nodes.len());
            let is_known = request.offer.is_some_and(|from| nodes.get(from) == Some(&node));
            nodes.push(node);
            let outcome = if is_known { ConnectionOutcome::Resumed } else { ConnectionOutcome::Full };
            let name = are_named.then(|| node.to_string());
            examination.answer(
                request,
                ConnectionAnswer { outcome, answered: Answered::Well, key: name.as_deref(), now, sessions: 1 },
            );
        }
        examination.nodes()
    }

    #[test]
    fn nodes_in_turn_are_counted() {
        for count in [2, 3, 5, 7] {
            let nodes = examined(false, |connection| connection % count as usize).unwrap();
            assert_eq!((nodes.low, nodes.likely, nodes.high), (count, count, Some(count)));
            assert!(nodes.policy == Some(BalancingPolicy::InTurn) && nodes.likely_percent >= Some(97), "{nodes:?}");
        }
    }

    /// Without names it may stay open whether there are several.
    #[test]
    fn nodes_by_chance_lie_within_the_interval() {
        for (count, seed) in [2_u64, 3, 5].iter().flat_map(|count| (0..4_u64).map(move |seed| (*count, seed))) {
            let chosen = || {
                let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
                move |_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((state >> 33) % count) as usize
                }
            };
            let [named, nameless] = [true, false].map(|are_named| examined(are_named, chosen()));
            assert!(named.is_some(), "{count} by seed {seed}");
            for nodes in named.into_iter().chain(nameless) {
                let is_within = u64::from(nodes.low) <= count && nodes.high.is_none_or(|high| count <= u64::from(high));
                assert!(is_within, "{count} by seed {seed}: {nodes:?}");
                // One node unlike three that share accepts about as often as two by chance: such a number is not named.
                let is_named = nodes.likely_percent >= Some(80);
                assert!(!is_named || u64::from(nodes.likely) == count, "{count} by seed {seed}: {nodes:?}");
            }
        }
    }

    #[test]
    fn of_one_node_nothing_is_said() {
        assert_eq!(examined(true, |_| 0), None);
    }
}
