//! Offers the sessions of each node of a fleet to each other node and to itself.
//!
//! Up to [`ALL_PAIRS`] nodes every pair is tried, in rounds in which each comes once; of more, groups are found first and then
//! checked by sampling. Nothing is concluded here.

mod all_pairs;
mod sampling;

use reprise_model::{Asked, Kind, Nanos, Version};

use crate::crossing::{Crossed, Crossing, CrossingEnd, CrossingLimits, Order, Place, PlaceState};
use crate::interrupt::Interrupt;
use crate::observer::Observer;

/// Of so many nodes all pairs are tried.
pub const ALL_PAIRS: usize = 12;

/// So many offers make a cell of the matrix, where limits allow, and so many where they do not agree.
pub const OFFERS: u32 = 3;
const IN_DOUBT: u32 = 8;

/// The mechanisms by which sessions are resumed, the most common first. Under TLS 1.2 a server that is asked for a ticket gives no ID.
pub const MECHANISMS: [Asked; 3] = [
    Asked { tls: Version::Tls13, kind: Kind::Ticket },
    Asked { tls: Version::Tls12, kind: Kind::Ticket },
    Asked { tls: Version::Tls12, kind: Kind::Id },
];

/// What the offers between the nodes of a fleet came to.
#[derive(Clone, Debug, Default)]
pub struct FleetExamination {
    /// Every connection, in the order in which they were begun.
    pub crossed: Vec<Crossed>,
    /// What is known of each node beside.
    pub states: Vec<PlaceState>,
    /// Whether there were too many for all pairs.
    pub is_sampled: bool,
    /// What ended it before its time.
    pub ended: Option<CrossingEnd>,
    /// Connections that were begun.
    pub connections: u32,
    /// How long it took.
    pub took: Nanos,
}

/// How many connections a fleet of this size may take where nobody says how many: for eight, 600.
pub fn usual_connections(nodes: usize) -> u32 {
    let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
    let pairs = (nodes as usize) <= ALL_PAIRS;
    let usual = if pairs { 9_u32.saturating_mul(nodes).saturating_mul(nodes) } else { nodes.saturating_mul(14) };
    usual.saturating_add(nodes.saturating_mul(3)).max(300)
}

/// Makes the connections. Never fails outright: what was not reached stands in the states.
pub fn examine_fleet(
    nodes: Vec<Place>,
    limits: CrossingLimits,
    seed: u64,
    observer: &dyn Observer,
    interrupt: &Interrupt,
) -> FleetExamination {
    let count = nodes.len();
    let planned = usual_connections(count).min(limits.connections).into();
    let mut fleet =
        FleetRun { crossing: Crossing::new(nodes, limits, planned, observer, interrupt), made: Vec::new(), seed };
    match count <= ALL_PAIRS {
        true => fleet.try_all_pairs(),
        false => fleet.sample(),
    }
    let states = (0..count).map(|node| fleet.crossing.state(node)).collect();
    FleetExamination {
        crossed: fleet.made,
        states,
        is_sampled: count > ALL_PAIRS,
        ended: fleet.crossing.ended(),
        connections: fleet.crossing.begun(),
        took: fleet.crossing.now(),
    }
}

/// The nodes while they are asked.
struct FleetRun<'a> {
    crossing: Crossing<'a>,
    made: Vec<Crossed>,
    seed: u64,
}

impl FleetRun<'_> {
    fn carry_out(&mut self, orders: Vec<Order>) {
        let made = self.crossing.carry_out(orders);
        self.made.extend(made);
    }

    /// How many offers of `from` came to an end at `to`, and how many were resumed.
    fn counts(&self, asked: Asked, from: usize, to: usize) -> (u32, u32) {
        let of_cell = self.made.iter().filter(|it| (it.asked, it.from, it.to) == (asked, Some(from), to));
        of_cell.filter_map(accepted).fold((0, 0), |(offered, resumed), is| (offered + 1, resumed + u32::from(is)))
    }

    fn next_seed(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(1);
        self.seed
    }
}

/// Whether the session that this connection offered was resumed; `None` where it offered none, did not complete, or was answered
/// with an error.
pub fn accepted(crossed: &Crossed) -> Option<bool> {
    let seen = &crossed.observation;
    let facts = seen.facts().filter(|facts| facts.session_offered && seen.is_answered_well())?;
    crossed.from.map(|_| facts.kind != Kind::Full)
}

/// The orders of several mechanisms side by side, so that what drifts falls on all of them alike.
fn side_by_side(orders: Vec<Vec<Order>>) -> Vec<Order> {
    let longest = orders.iter().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|place| orders.iter().filter_map(move |of_one| of_one.get(place).copied())).collect()
}
