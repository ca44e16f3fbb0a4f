//! Who shares with whom, and what that comes to behind a balancer.

use reprise_model::document::{FleetCell, FleetMechanism};
use reprise_model::{Asked, Kind, Nanos};
use reprise_probe::fleet::MECHANISMS;

use super::case::{FleetCase, Relation};

impl FleetCase<'_> {
    /// The mechanism that clients use who speak everything: the most common one by which at least half of the nodes accept their own
    /// sessions; where there is none, that of most nodes.
    pub(super) fn main_mechanism(&self) -> Option<Asked> {
        let accepting = |asked: Asked| (0..self.nodes.len()).filter(|node| self.counts(asked, *node, *node).1 > 0).count();
        let most = MECHANISMS.into_iter().map(accepting).max().filter(|most| *most > 0)?;
        let enough = most.min(self.nodes.iter().filter(|node| node.is_reached()).count().div_ceil(2));
        MECHANISMS.into_iter().find(|asked| accepting(*asked) >= enough)
    }

    /// Nodes that accept each other's sessions of this mechanism, the largest group first; every node that was reached is in one.
    pub(crate) fn groups(&self, asked: Asked) -> Vec<Vec<usize>> {
        let reached = (0..self.nodes.len()).filter(|node| self.nodes.get(*node).is_some_and(|it| it.is_reached()));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for node in reached {
            let (mut joined, mut others): (Vec<Vec<usize>>, Vec<Vec<usize>>) =
                groups.into_iter().partition(|group| group.iter().any(|other| self.share(asked, node, *other)));
            let mut group: Vec<usize> = joined.drain(..).flatten().chain([node]).collect();
            group.sort_unstable();
            others.push(group);
            groups = others;
        }
        groups.sort_by_key(|group| (std::cmp::Reverse(group.len()), group.first().copied()));
        groups
    }

    /// Whether both accept the other's sessions, as far as they were offered.
    fn share(&self, asked: Asked, one: usize, other: usize) -> bool {
        let ways = [self.relation(asked, one, other), self.relation(asked, other, one)];
        let accepts = |way: &Relation| *way == Relation::Accepts;
        // Of offers that are refused now and then, most: what a node forgets of its own is no matter of the fleet.
        let mostly = |from, to| {
            let (offered, resumed) = self.counts(asked, from, to);
            resumed > 0 && 2 * resumed >= offered
        };
        let is_mixed = ways.contains(&Relation::Mixed) && mostly(one, other) && mostly(other, one);
        // Of too few offers to be sure, all that there are.
        let few = [self.counts(asked, one, other), self.counts(asked, other, one)];
        let all_few = few.iter().any(|(offered, _)| *offered > 0) && few.iter().all(|(offered, resumed)| offered == resumed);
        let is_open = ways.iter().all(|way| accepts(way) || *way == Relation::Unknown);
        is_mixed || is_open && (all_few || ways.iter().any(accepts))
    }

    /// Every cell that has an offer.
    pub(super) fn cells(&self) -> Vec<FleetCell> {
        let of_mechanism = |asked: Asked| {
            self.pairs(asked).map(move |(from, to)| {
                let (offered, accepted) = self.counts(asked, from, to);
                FleetCell { from, to, tls: asked.tls, kind: asked.kind, offered, accepted }
            })
        };
        MECHANISMS.into_iter().flat_map(of_mechanism).collect()
    }

    /// What each mechanism comes to; one that no node gives anything by is left out.
    pub(super) fn mechanisms(&self) -> Vec<FleetMechanism> {
        MECHANISMS.into_iter().filter_map(|asked| self.mechanism(asked)).collect()
    }

    fn mechanism(&self, asked: Asked) -> Option<FleetMechanism> {
        let (mut own, mut crossed) = ([0, 0], [0, 0]);
        for (from, to) in self.pairs(asked) {
            let (offered, resumed) = self.counts(asked, from, to);
            let of = if from == to { &mut own } else { &mut crossed };
            *of = [of[0] + offered, of[1] + resumed];
        }
        let offers = own[0] + crossed[0];
        if offers == 0 {
            return None;
        }
        // A balancer sends connections to a node that is down as well: they resume nothing, and it gives nothing to resume.
        let is_up = |node: &usize| !self.is_down(*node);
        let up: Vec<usize> = (0..self.nodes.len()).filter(is_up).collect();
        // Of the addresses of one name, a client that finds one silent takes another.
        let nodes = if self.are_addresses { up.len() } else { self.nodes.len() };
        let pairs = (nodes * nodes).max(1) as f64;
        let (shared, trials) = if self.examination.is_sampled {
            let accepts = |node: &usize| is_up(node) && self.counts(asked, *node, *node).1 > 0;
            let sizes = self.groups(asked).into_iter().map(|group| group.iter().filter(|node| accepts(node)).count());
            (sizes.map(|size| (size * size) as f64).sum::<f64>() / pairs, f64::from(offers))
        } else {
            let (mut sum, mut spread) = (0.0, 0.0);
            for from in &up {
                for to in &up {
                    // What was not offered, since one of them accepts nothing, is not resumed.
                    let (offered, resumed) = self.counts(asked, *from, *to);
                    sum += f64::from(resumed) / f64::from(offered.max(1));
                    spread += 1.0 / f64::from(offered.max(1));
                }
            }
            // What a node that is down does not resume is known without an offer.
            (sum / pairs, if spread == 0.0 { f64::from(offers) } else { pairs * pairs / spread })
        };
        let ci95 = reprise_stats::wilson(shared, trials);
        let saved = self.saved(asked).map(|saved| Nanos(((1.0 - shared) * saved.0 as f64) as u64));
        Some(FleetMechanism { asked, own, crossed, shared, ci95, cost_ns: saved })
    }

    /// By how much the median of resumed handshakes is shorter than that of full ones.
    fn saved(&self, asked: Asked) -> Option<Nanos> {
        let median = |is_full: bool| {
            let of_version =
                self.examination.crossed.iter().map(|it| &it.observation).filter(|it| it.asked.tls == asked.tls);
            let seen = of_version.filter(|it| it.kind().is_some_and(|kind| (kind == Kind::Full) == is_full));
            let times: Vec<u64> = seen.filter_map(|it| Some(it.phases.tls?.0)).collect();
            reprise_stats::median(&times)
        };
        let (full, resumed) = (median(true)?, median(false)?);
        Some(Nanos(full.saturating_sub(resumed)))
    }
}
