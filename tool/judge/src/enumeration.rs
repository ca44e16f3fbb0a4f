//! Each factor against an enumeration of everything that may have happened, on short sequences.

use std::collections::HashMap;

use crate::attempt::{
    ConnectionOutcome, JudgedConnection, OfferVariation, OfferedSession, PriorOffers, SeenConnection, UNEXPLAINED_KEY,
    likelihood,
};
use crate::cause::JudgedCause;
use crate::hypothesis::Hypothesis;
use crate::memory::{Capacity, Lifetime, Memory};
use crate::one_node::KeyNames;
use crate::restarts::Restarts;
use crate::rotations::Rotations;
use crate::route::Route;
use crate::routed::Routed;

/// What was seen: what each connection offered (how many connections before it), what became of it, and the key name it gave.
type Sequence = [(Option<usize>, ConnectionOutcome, Option<u32>)];

/// Longer than a process that is replaced answers.
const GAP: f64 = 0.6;

fn attempts(sequence: &Sequence) -> Vec<(JudgedConnection, SeenConnection)> {
    let mut all = Vec::new();
    for (connection, (ago, outcome, key)) in sequence.iter().enumerate() {
        let offered = ago.map(|ago| OfferedSession {
            from: connection - ago,
            age: ago as f64 * GAP,
            others: ago - 1,
            used: 0,
            depth: 0,
            earlier: PriorOffers::default(),
        });
        let at = connection as f64 * GAP;
        let gap = if connection == 0 { 0.0 } else { GAP };
        let attempt = JudgedConnection { connection, at, gap, offered, variation: OfferVariation::Plain };
        all.push((attempt, SeenConnection { outcome: *outcome, key: *key }));
    }
    all
}

/// Tells `observe` of each attempt, with the key names that were seen until then.
fn tell(sequence: &Sequence, mut observe: impl FnMut(&JudgedConnection, &SeenConnection, &KeyNames)) {
    let mut names = KeyNames::default();
    for (attempt, seen) in attempts(sequence) {
        observe(&attempt, &seen, &names);
        names.note(&attempt, &seen);
    }
}

use ConnectionOutcome::{Failed, Full, Resumed};

const SEQUENCES: [&Sequence; 4] = [
    &[(None, Full, None), (Some(1), Full, None), (Some(2), Resumed, None), (Some(1), Full, None)],
    &[(None, Full, Some(1)), (Some(1), Full, Some(2)), (Some(2), Resumed, Some(1)), (Some(2), Resumed, Some(2))],
    &[(None, Full, Some(1)), (Some(1), Resumed, Some(1)), (Some(1), Failed, None), (Some(2), Full, Some(3))],
    &[(None, Full, None), (None, Failed, None), (Some(2), Resumed, None), (Some(1), Resumed, None)],
];

/// The probability of all that was seen: the sum over every path.
fn over_paths(route: &Route, sequence: &Sequence) -> f64 {
    let count = sequence.len() as u32;
    let all = attempts(sequence);
    (0..route.len().pow(count))
        .map(|path| {
            let positions: Vec<usize> = (0..count).map(|it| path / route.len().pow(it) % route.len()).collect();
            let mut names: HashMap<u8, u32> = HashMap::new();
            let mut probability = 1.0;
            for ((attempt, seen), position) in all.iter().zip(&positions) {
                let connection = attempt.connection;
                probability *= match connection.checked_sub(1) {
                    None => route.start()[*position],
                    Some(before) => route.transitions(attempt.gap)[positions[before]][*position],
                };
                let node = route.nodes[*position];
                let knows = attempt.offered.is_some_and(|offered| {
                    let from = positions[offered.from];
                    route.nodes[from] == node && ![Some(from), Some(*position)].contains(&route.off)
                });
                let is_down = route.down == Some(*position);
                probability *= likelihood(attempt, seen.outcome, f64::from(knows), f64::from(is_down));
                if let Some(key) = seen.key {
                    let is_expected = match names.get(&node) {
                        Some(name) => *name == key,
                        None => !names.values().any(|name| *name == key),
                    };
                    probability *= if is_expected { 1.0 - UNEXPLAINED_KEY } else { UNEXPLAINED_KEY };
                    names.insert(node, key);
                }
            }
            probability
        })
        .sum()
}

#[test]
fn the_filter_sums_over_every_path() {
    let routes = [
        Route::in_turn(&[0, 1], 0.7, 0.0),
        Route::in_turn(&[0, 1], 0.0, 0.3),
        Route::in_turn(&[0, 0, 1], 0.0, 0.0),
        Route::by_chance(&[0, 1], &[0.8, 0.2], 0.0),
        Route::by_chance(&[0, 1], &[0.5, 0.5], 0.6),
        Route { down: Some(0), ..Route::by_chance(&[0, 0], &[0.5, 0.5], 0.0) },
        Route { off: Some(1), ..Route::in_turn(&[0, 0], 0.7, 0.0) },
    ];
    for route in &routes {
        for sequence in SEQUENCES {
            let mut routed =
                Routed::new(Hypothesis { prior: 1.0, ..Hypothesis::of(&[JudgedCause::NotShared]) }, route.clone());
            tell(sequence, |attempt, seen, names| routed.observe(attempt, seen, names, 0.5));
            let (own, enumerated) = (routed.log_weight, over_paths(route, sequence).ln());
            assert!((own - enumerated).abs() < 1e-9, "{route:?} {sequence:?}: {own} {enumerated}");
        }
    }
}

/// Whether no connection before this one gave this key name.
fn is_new(all: &[(JudgedConnection, SeenConnection)], attempt: &JudgedConnection, key: u32) -> bool {
    all.iter().take(attempt.connection).all(|(_, seen)| seen.key != Some(key))
}

#[test]
fn the_pass_sums_over_every_set_of_restarts() {
    let rate: f64 = 0.6;
    let lost = 1.0 - (-rate * GAP).exp();
    for sequence in SEQUENCES {
        let all = attempts(sequence);
        // A restart just before each connection but the first, or not.
        let over_sets: f64 = (0..1_u32 << (all.len() - 1))
            .map(|set| {
                let is_restarted = |before: usize| before > 0 && set >> (before - 1) & 1 == 1;
                let mut probability = 1.0;
                let mut named: Option<(u32, usize)> = None;
                for (attempt, seen) in &all {
                    let connection = attempt.connection;
                    if connection > 0 {
                        probability *= if is_restarted(connection) { lost } else { 1.0 - lost };
                    }
                    let none_since = |from: usize| !(from + 1..=connection).any(is_restarted);
                    let knows = attempt.offered.is_some_and(|offered| none_since(offered.from));
                    probability *= likelihood(attempt, seen.outcome, f64::from(knows), 0.0);
                    if let (Some(key), Some((before, from))) = (seen.key, named) {
                        let is_expected = if none_since(from) { key == before } else { is_new(&all, attempt, key) };
                        probability *= if is_expected { 1.0 - UNEXPLAINED_KEY } else { UNEXPLAINED_KEY };
                    }
                    named = seen.key.map(|key| (key, connection)).or(named);
                }
                probability
            })
            .sum();
        let mut restarts = Restarts::new(rate, 1.0);
        tell(sequence, |attempt, seen, names| restarts.observe(attempt, seen, names));
        assert!((restarts.log_weight - over_sets.ln()).abs() < 1e-9, "{sequence:?}");
    }
}

#[test]
fn the_pass_sums_over_every_phase_of_a_rotation() {
    // Within one period the drift is small. Key names that alternate, in the second sequence, are as improbable under a rotation as
    // the edges of the parts of a period make them.
    let period = 3.0;
    for sequence in [SEQUENCES[0], SEQUENCES[2], SEQUENCES[3]] {
        let all = attempts(sequence);
        let phases = 3000;
        let over_phases: f64 = (0..phases)
            .map(|phase| {
                let epoch = |at: f64| (at / period + f64::from(phase) / f64::from(phases)).floor();
                let mut probability = 1.0;
                let mut named: Option<(u32, f64)> = None;
                for (attempt, seen) in &all {
                    let knows = attempt.offered.is_some_and(|it| epoch(attempt.at) == epoch(attempt.at - it.age));
                    probability *= likelihood(attempt, seen.outcome, f64::from(knows), 0.0);
                    if let (Some(key), Some((before, at))) = (seen.key, named) {
                        let is_same = epoch(attempt.at) == epoch(at);
                        let is_expected = if is_same { key == before } else { is_new(&all, attempt, key) };
                        probability *= if is_expected { 1.0 - UNEXPLAINED_KEY } else { UNEXPLAINED_KEY };
                    }
                    named = seen.key.map(|key| (key, attempt.at)).or(named);
                }
                probability / f64::from(phases)
            })
            .sum();
        let mut rotations = Rotations::new(period, 1.0);
        tell(sequence, |attempt, seen, names| rotations.observe(attempt, seen, names));
        let (own, enumerated) = (rotations.log_weight, over_phases.ln());
        assert!((own - enumerated).abs() < 0.2, "{sequence:?}: {own} {enumerated}");
    }
}

/// Four parts of two sessions, and three others: 1 - P(two or three of them come to the part of ours).
#[test]
fn a_store_in_parts_forgets_where_a_part_is_full() {
    let quarter: f64 = 0.25;
    let enumerated = 1.0 - 3.0 * quarter.powi(2) * 0.75 - quarter.powi(3);
    let memory = Memory { capacity: Some(Capacity { sessions: 8, others_a_second: 0.0, parts: 4 }), ..Memory::PERFECT };
    let attempt = attempts(SEQUENCES[0])[3].0;
    let offered = OfferedSession { from: 0, age: 1.0, others: 3, used: 0, depth: 0, earlier: PriorOffers::default() };
    let known = |earlier: PriorOffers| memory.knows(&attempt, &OfferedSession { earlier, ..offered });
    assert!((known(PriorOffers::default()) - enumerated).abs() < 0.03, "{}", known(PriorOffers::default()));
    assert_eq!(known(PriorOffers { is_refused: true, ..PriorOffers::default() }), 0.0);
    assert_eq!(known(PriorOffers { accepted: Some((3, 1.0)), is_refused: false, ..PriorOffers::default() }), 1.0);
}

#[test]
fn a_store_remembers_what_it_says() {
    let perfect = Memory::PERFECT;
    let lifetime = |lifetime| Memory { lifetime, ..perfect };
    let holding =
        |sessions, others_a_second| Memory { capacity: Some(Capacity { sessions, others_a_second, parts: 1 }), ..perfect };
    let offered = OfferedSession { from: 0, age: 1.0, others: 3, used: 1, depth: 2, earlier: PriorOffers::default() };
    let cases = [
        (perfect, offered, 1.0),
        (Memory { accepts: false, ..perfect }, offered, 0.0),
        (lifetime(Lifetime::Seconds(1.2)), offered, 1.0),
        (lifetime(Lifetime::Seconds(0.8)), offered, 0.0),
        (lifetime(Lifetime::Seconds(1.0)), offered, 0.5),
        // From 4.5 to 5.5, so 1 by whole seconds; from 4.2 to 5.9 too, and from 3.9 to 5.2 it is 2.
        (lifetime(Lifetime::WholeSeconds { count: 1.0, phase: 0.5 }), offered, 1.0),
        (lifetime(Lifetime::WholeSeconds { count: 1.0, phase: 0.9 }), OfferedSession { age: 1.7, ..offered }, 1.0),
        (lifetime(Lifetime::WholeSeconds { count: 1.0, phase: 0.2 }), OfferedSession { age: 1.3, ..offered }, 0.0),
        (holding(4, 0.0), offered, 1.0),
        (holding(3, 0.0), offered, 0.0),
        (holding(30, 100.0), offered, 0.0),
        (holding(30, 1.0), offered, 1.0),
        (Memory { is_single_use: true, ..perfect }, offered, 0.0),
        (Memory { is_single_use: true, ..perfect }, OfferedSession { used: 0, ..offered }, 1.0),
        (Memory { least_age: 2.0, ..perfect }, offered, 0.0),
        (Memory { least_age: 0.5, ..perfect }, offered, 1.0),
        (Memory { most_depth: 2, ..perfect }, offered, 0.0),
        (Memory { most_depth: 3, ..perfect }, offered, 1.0),
        (Memory { bound_to: Some(OfferVariation::Suite), ..perfect }, offered, 0.0),
        (Memory { bound_to: Some(OfferVariation::Name), ..perfect }, offered, 1.0),
    ];
    for (memory, offered, expected) in cases {
        let attempt =
            JudgedConnection { connection: 5, at: 5.0, gap: 0.1, offered: Some(offered), variation: OfferVariation::Suite };
        let known = memory.knows(&attempt, &offered);
        assert!((known - expected).abs() < 0.01, "{memory:?} {offered:?}: {known}");
    }
}

#[test]
fn the_next_connection_goes_somewhere() {
    for route in [
        Route::in_turn(&[0, 1, 2], 4.0, 0.2),
        Route::in_turn(&[0, 0, 1, 0, 2, 0], 200.0, 0.0),
        Route::by_chance(&[0, 1, 2], &[0.6, 0.25, 0.15], 0.6),
    ] {
        for row in route.transitions(0.3).iter().take(route.len()) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{route:?}");
        }
        assert!((route.start().iter().sum::<f64>() - 1.0).abs() < 1e-9, "{route:?}");
    }
}
