//! Every pair of nodes, in rounds in which each pair comes once.

use std::collections::BTreeSet;

use reprise_model::{Asked, Kind};
use reprise_stats::balanced_order;

use super::{FleetRun, IN_DOUBT, MECHANISMS, OFFERS, side_by_side};
use crate::crossing::{Crossed, Order};

/// So many rounds more where offers of one pair did not agree.
const ROUNDS_IN_DOUBT: u32 = IN_DOUBT - OFFERS;

impl FleetRun<'_> {
    pub(super) fn try_all_pairs(&mut self) {
        self.offer_to_themselves();
        for _ in 1..OFFERS {
            self.round(|_, _| true);
        }
        // The rest goes first to pairs that may have seen both: the last offer of the others confirms what is known.
        self.round(|counts, _| is_mixed(counts));
        self.round(|(offered, _), _| offered < OFFERS);
        for _ in 0..ROUNDS_IN_DOUBT {
            if !self.round(|counts @ (offered, _), _| is_mixed(counts) && offered < IN_DOUBT) {
                break;
            }
        }
        self.offer_what_is_old();
        self.replay_early_data();
    }

    /// Shows what each node speaks, gives and accepts of its own.
    fn offer_to_themselves(&mut self) {
        let nodes = self.crossing.place_count();
        let orders = MECHANISMS.map(|asked| (0..nodes).map(|node| Order::offer(node, node, asked)).collect());
        self.carry_out(side_by_side(orders.into()));
    }

    /// Offers sessions between each pair that is worth it, in an order in which each node comes after each. Whether there was any.
    fn round(&mut self, is_wanted: impl Fn((u32, u32), Asked) -> bool) -> bool {
        let nodes = self.crossing.place_count();
        let mut orders = Vec::new();
        for asked in MECHANISMS {
            let seed = self.next_seed();
            let mut walk = balanced_order(nodes, nodes, seed as usize % nodes.max(1), seed);
            walk.extend(walk.first().copied());
            let pairs = walk.windows(2).filter_map(|pair| match pair {
                [from, to] => Some((*from, *to)),
                _ => None,
            });
            let is_worth_it = |(from, to): &(usize, usize)| {
                // What a node refuses of its own shows nothing of others.
                let own = self.counts(asked, *from, *from);
                let accepts = |node| self.counts(asked, node, node).1 > 0;
                (from == to || (own.1 > 0 && accepts(*to))) && is_wanted(self.counts(asked, *from, *to), asked)
            };
            orders.push(pairs.filter(is_worth_it).map(|(from, to)| Order::offer(from, to, asked)).collect());
        }
        let orders = side_by_side(orders);
        let is_any = !orders.is_empty() && self.crossing.connections_left() > 0;
        // Where limits leave none of them, the crossing notes that.
        self.carry_out(orders);
        is_any
    }

    /// A node that gave tickets under another key before, or refused a session of its own after it had accepted others: what is
    /// left of the time before is offered again, beside a new one.
    fn offer_what_is_old(&mut self) {
        let mut orders = Vec::new();
        for asked in MECHANISMS {
            for node in 0..self.crossing.place_count() {
                let (offered, resumed) = self.counts(asked, node, node);
                if self.has_changed_its_key(node, asked) || (resumed > 0 && resumed < offered) {
                    let old = self.crossing.oldest(node, asked, OFFERS as usize);
                    orders.extend(old.into_iter().map(|session| Order { to: node, asked, session: Some(session) }));
                    orders.push(Order::offer(node, node, asked));
                }
            }
        }
        self.carry_out(orders);
    }

    /// Sends the early data that one node has taken to another that accepts its tickets: a node's own record of what came does not
    /// guard the others.
    fn replay_early_data(&mut self) {
        let [asked, ..] = MECHANISMS;
        let allows = |it: &Crossed| it.asked == asked && it.observation.max_early_data().is_some();
        let allowing: BTreeSet<usize> = self.made.iter().filter(|it| allows(it)).map(|it| it.to).collect();
        let pairs = allowing.iter().flat_map(|from| allowing.iter().map(|to| (*from, *to)));
        let share = |(from, to): &(usize, usize)| from != to && self.counts(asked, *from, *to).1 > 0;
        let Some((from, to)) = pairs.into_iter().find(share) else { return };
        self.carry_out(vec![Order::full(from, asked)]);
        let Some(session) = self.crossing.oldest(from, asked, usize::MAX).pop() else { return };
        let early = Asked { kind: Kind::Early, ..asked };
        for to in [from, to] {
            self.carry_out(vec![Order { to, asked: early, session: Some(session) }]);
        }
    }

    fn has_changed_its_key(&self, node: usize, asked: Asked) -> bool {
        let of_node = self.made.iter().filter(|it| it.to == node && it.asked == asked);
        let names: Vec<_> = of_node.filter_map(|it| crate::diagnose::key_name(&it.observation)).collect();
        names.first() != names.last()
            && names.first().is_some_and(|first| names.iter().filter(|it| *it == first).count() > 1)
    }
}

/// Whether some were resumed and some were not.
fn is_mixed((offered, resumed): (u32, u32)) -> bool {
    resumed > 0 && resumed < offered
}
