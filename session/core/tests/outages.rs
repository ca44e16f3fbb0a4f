//! A year of rotations in simulated time: five nodes, one store, outages drawn at random. A node opens every ticket within its life that
//! any node gave, but where one of the two was away for so long that nobody could have told it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::Write;
use std::time::Duration;

use reprise_session::coordination::{Clocks, RingAction, next_step, provisional};
use reprise_session::{KeyEncryptionKeys, KeyName, KeyRing, Random, RandomFailed, Rotation, SystemRandom};
use rustls_pki_types::UnixTime;

const NODES: usize = 5;
const HOUR: u64 = 3600;
const PERIOD: u64 = 12 * HOUR;
const LIFETIME: u64 = 6 * HOUR;
/// Between two looks of a node, and between two tickets.
const STEP: u64 = 600;
/// For how long a ring tells the keys that others use: until the key after the next one begins, and that was published half a period
/// before the next.
const KNOWN_FOR: u64 = PERIOD + PERIOD / 2;
const YEAR: u64 = 365 * 24 * HOUR;

fn at(second: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(second))
}

/// The same year in every run.
struct Lots(u64);

impl Lots {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

struct Node {
    ring: KeyRing,
    /// When it last saw the store's ring.
    seen: u64,
    away_until: u64,
}

#[derive(Default)]
struct Year {
    offered: u64,
    refused: u64,
    longest: u64,
}

/// How often nodes or the store are away, and for how long at most.
#[derive(Clone, Copy)]
struct Outages {
    of: Away,
    /// One in so many steps begins one.
    one_in: u64,
    longest: u64,
    /// Whether the store comes back empty, or garbled.
    loses_ring: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Away {
    Store,
    EachNode,
}

struct World {
    nodes: Vec<Node>,
    store: Option<Vec<u8>>,
    store_away_until: u64,
    keys: KeyEncryptionKeys,
    rotation: Rotation,
    lots: Lots,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        SystemRandom.fill(&mut key).unwrap();
        let rotation = Rotation::new(Duration::from_secs(LIFETIME)).unwrap();
        let rotation = rotation.with_period(Duration::from_secs(PERIOD)).unwrap();
        let node = |_| Node { ring: provisional(&rotation, at(0), &SystemRandom).unwrap(), seen: 0, away_until: 0 };
        Self {
            nodes: (0..NODES).map(node).collect(),
            store: None,
            store_away_until: 0,
            keys: KeyEncryptionKeys::new([&key[..]]).unwrap(),
            rotation,
            lots: Lots(seed),
        }
    }

    /// What the keeper of one node does.
    fn look(&mut self, index: usize, now: u64) {
        let node = &mut self.nodes[index];
        if now < node.away_until || now < self.store_away_until {
            if let Some(next) = node.ring.ratcheted(&self.rotation, at(now)) {
                node.ring = next;
            }
            return;
        }
        let clocks = Clocks { own: at(now), store: at(now) };
        let found = std::slice::from_ref(&self.store);
        node.ring = match next_step(&node.ring, found, &self.rotation, &self.keys, clocks, &SystemRandom).unwrap() {
            RingAction::Use(ring) => ring,
            RingAction::Publish { ring, sealed, .. } => {
                self.store = Some(sealed);
                ring
            }
            other => panic!("{other:?}"),
        };
        node.seen = now;
    }

    fn draw(&mut self, outages: Outages, now: u64) {
        let node = self.lots.below(NODES as u64) as usize;
        let away_until = match outages.of {
            Away::Store => &mut self.store_away_until,
            Away::EachNode => &mut self.nodes[node].away_until,
        };
        // It looks at least once between two outages.
        if now > *away_until + STEP && self.lots.below(outages.one_in) == 0 {
            let until = now + self.lots.below(outages.longest);
            *away_until = until;
            if outages.loses_ring {
                self.store = if until.is_multiple_of(2) { None } else { Some(vec![7; 100]) };
            }
        }
    }

    /// A year in which each step one node gives a ticket, and another is offered one of those that live.
    fn year(&mut self, outages: Outages) -> Year {
        let mut year = Year::default();
        let mut tickets: Vec<(u64, u64, KeyName)> = Vec::new();
        // Nobody is away before all have met.
        (0..2 * NODES).for_each(|turn| self.look(turn % NODES, 0));
        for now in (0..YEAR).step_by(STEP as usize) {
            self.draw(outages, now);
            for index in 0..NODES {
                self.look(index, now);
            }
            let giver = self.lots.below(NODES as u64) as usize;
            let key = self.nodes[giver].ring.encryption_key(at(now)).unwrap_or_else(|| panic!("no key at {now}"));
            tickets.push((now, now - self.nodes[giver].seen, key.name()));
            tickets.retain(|(given, ..)| now < given + LIFETIME);
            let (_, giver_was_away, name) = tickets[self.lots.below(tickets.len() as u64) as usize];
            let taker = self.lots.below(NODES as u64) as usize;
            let taker = &self.nodes[taker];
            year.offered += 1;
            if taker.ring.decryption_key(name, at(now)).is_err() {
                year.refused += 1;
                let away = giver_was_away.max(now - taker.seen);
                assert!(away >= KNOWN_FOR, "refused at {now} after only {away} s away");
            }
            year.longest = year.longest.max(self.nodes.iter().map(|node| now - node.seen).max().unwrap_or(0));
        }
        year
    }
}

fn run(what: &str, outages: Outages) -> Year {
    let year = World::new(1).year(outages);
    let Year { offered, refused, longest } = year;
    let days = longest as f64 / 86_400.0;
    let line = format!("{what}: {refused} of {offered} tickets refused; the longest outage was {days:.1} days\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    year
}

#[test]
fn nodes_that_are_cut_off_together_refuse_nothing() {
    for loses_ring in [false, true] {
        let outages = Outages { of: Away::Store, one_in: 1000, longest: 5 * 86_400, loses_ring };
        let year = run("store away, for up to five days", outages);
        assert!(year.longest > 3 * 86_400, "{}", year.longest);
        assert_eq!(year.refused, 0);
    }
}

#[test]
fn a_node_away_for_one_and_a_half_periods_refuses_nothing() {
    let year = run(
        "each node away, for up to 18 hours",
        Outages { of: Away::EachNode, one_in: 40, longest: KNOWN_FOR - STEP, loses_ring: false },
    );
    assert!(year.longest > PERIOD);
    assert_eq!(year.refused, 0);
}

/// Beyond that the others have mixed in randomness that nobody could tell it: what is lost is counted, and all of it is excused by the
/// length of the outage.
#[test]
fn a_node_that_is_away_for_days_loses_what_nobody_could_tell_it() {
    let year = run(
        "each node away, for up to three days",
        Outages { of: Away::EachNode, one_in: 300, longest: 3 * 86_400, loses_ring: false },
    );
    assert!(year.refused > 0 && year.refused * 5 < year.offered, "{} of {}", year.refused, year.offered);
}

/// The state of a node: each secret in it tells nothing of keys that are gone from it.
#[test]
fn what_a_ring_tells_of_keys_that_are_over_is_nothing() {
    let rotation = Rotation::new(Duration::from_secs(LIFETIME)).unwrap();
    let mut ring = KeyRing::generate(&rotation, at(0), &SystemRandom).unwrap();
    let first = ring.keys().next().unwrap().name();
    for now in (0..10 * LIFETIME).step_by(600) {
        ring = ring.ratcheted(&rotation, at(now)).unwrap_or(ring);
    }
    let names: Vec<KeyName> = ring.keys().map(|key| key.name()).collect();
    assert!(!names.contains(&first) && (1..=3).contains(&names.len()), "{names:?}");
    // A ring that came by no chain has no next key without randomness.
    let keys = ring.keys().map(|key| reprise_session::TicketKey::new(key.name(), key.material(), key.times()).unwrap());
    assert!(KeyRing::new(keys).unwrap().ratcheted(&rotation, at(20 * LIFETIME)).is_none());
    let failing = Fails;
    assert!(ring.rotated(&rotation, at(20 * LIFETIME), &failing).is_err());
}

struct Fails;

impl Random for Fails {
    fn fill(&self, _: &mut [u8]) -> Result<(), RandomFailed> {
        Err(RandomFailed)
    }
}
