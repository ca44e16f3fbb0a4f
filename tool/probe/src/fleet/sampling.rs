//! Many nodes: groups by the names of their keys and by what one node of each group accepts, then checked by sampling.

use std::collections::BTreeMap;

use reprise_model::{Asked, TicketKeyName};

use super::{FleetRun, MECHANISMS, side_by_side};
use crate::crossing::Order;
use crate::diagnose::key_name;

/// So many groups are told apart by offers; what belongs to none of them stands alone.
const GROUPS: usize = 12;

/// Between so many groups, the largest, all pairs are tried.
const LARGE: usize = 6;

/// So many rings through each group check it.
const RINGS: usize = 2;

impl FleetRun<'_> {
    pub(super) fn sample(&mut self) {
        for asked in MECHANISMS {
            let nodes = 0..self.crossing.place_count();
            self.carry_out(nodes.clone().map(|node| Order::offer(node, node, asked)).collect());
            let accepting: Vec<usize> = nodes.filter(|node| self.counts(asked, *node, *node).1 > 0).collect();
            if accepting.len() > 1 {
                self.sample_mechanism(asked, accepting);
            }
        }
    }

    fn sample_mechanism(&mut self, asked: Asked, accepting: Vec<usize>) {
        let groups = self.groups(asked, accepting);
        // Each node's session is offered to the next of its group, in an order by chance.
        for _ in 0..RINGS {
            let mut orders = Vec::new();
            for group in groups.iter().filter(|group| group.len() > 1) {
                let mut ring = group.clone();
                reprise_stats::shuffle(&mut ring, self.next_seed());
                let next = ring.iter().cycle().skip(1);
                orders.push(ring.iter().zip(next).map(|(from, to)| Order::offer(*from, *to, asked)).collect());
            }
            self.carry_out(side_by_side(orders));
        }
        let leaders: Vec<usize> = groups.iter().take(LARGE).filter_map(|group| group.first().copied()).collect();
        let pairs = leaders.iter().flat_map(|from| leaders.iter().map(|to| (*from, *to))).filter(|(from, to)| from != to);
        let orders: Vec<Order> = pairs.map(|(from, to)| Order::offer(from, to, asked)).collect();
        self.carry_out(orders.clone());
        self.carry_out(orders);
    }

    /// Groups, the largest first: nodes whose tickets name one key, and those whose sessions a group's first node accepts.
    fn groups(&mut self, asked: Asked, accepting: Vec<usize>) -> Vec<Vec<usize>> {
        let mut named: BTreeMap<TicketKeyName, Vec<usize>> = BTreeMap::new();
        for node in &accepting {
            let of_node = self.made.iter().find(|it| it.to == *node && it.asked == asked);
            if let Some(name) = of_node.and_then(|it| key_name(&it.observation)) {
                named.entry(name).or_default().push(*node);
            }
        }
        let mut groups: Vec<Vec<usize>> = named.into_values().filter(|group| group.len() > 1).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        let mut left: Vec<usize> = accepting.into_iter().filter(|node| !groups.iter().any(|it| it.contains(node))).collect();
        // Who is alone by its name may yet be accepted, and names may be hidden.
        for place in 0..GROUPS {
            if place >= groups.len() && !left.is_empty() {
                groups.push(vec![left.remove(0)]);
            }
            let Some(leader) = groups.get(place).and_then(|group| group.first().copied()) else { break };
            self.carry_out(left.iter().map(|node| Order::offer(*node, leader, asked)).collect());
            let (joins, stays) = left.into_iter().partition(|node| self.counts(asked, *node, leader).1 > 0);
            left = stays;
            if let Some(group) = groups.get_mut(place) {
                group.extend::<Vec<usize>>(joins);
            }
        }
        groups.extend(left.into_iter().map(|node| vec![node]));
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        groups
    }
}
