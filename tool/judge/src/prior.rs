//! The hypotheses, and how probable each kind is before anything is seen.
//!
//! A pair of causes has a subset of the parameters that its single causes have: a finer grid in a pair than in a single cause
//! would show a second cause where the first one's parameter only fits better.

use crate::attempt::OfferVariation;
use crate::breaking::{Breaking, BreakingPoint};
use crate::cause::JudgedCause;
use crate::hypothesis::{Hypothesis, RateLimit};
use crate::memory::{Capacity, Lifetime, Memory};
use crate::route::Route;

use JudgedCause::{
    BoundToCertificate, BoundToName, BoundToSuite, Capacity as TooSmall, ChainCap, FreshKey, Lifetime as TooShort,
    NeverAccepted, NodeDown, NotShared, OfferBreaks, RateLimit as Limited, RefusedYoung, SingleUse,
};

/// Restarts a second, and how probable all of them are together.
pub(crate) const RESTART_RATES: [f64; 3] = [0.03, 0.15, 0.6];
pub(crate) const RESTARTS: f64 = 0.03;
/// How probable rotations are, of all periods together.
pub(crate) const ROTATIONS: f64 = 0.03;
/// How probable it is that nothing here describes the server, in a way that has some structure, and in one that has none: that
/// would be what nodes by chance are.
pub(crate) const UNKNOWN: f64 = 0.02;
pub(crate) const UNKNOWN_WITHOUT_STRUCTURE: f64 = 0.0005;

const PERFECT: Memory = Memory::PERFECT;
const NONE: Memory = Memory { accepts: false, ..PERFECT };
/// Other clients' connections in a second.
const TRAFFIC: [f64; 4] = [0.0, 0.5, 4.0, 25.0];
const BOUND: [(OfferVariation, JudgedCause); 3] = [
    (OfferVariation::Name, BoundToName),
    (OfferVariation::Suite, BoundToSuite),
    (OfferVariation::Certificate, BoundToCertificate),
];

/// Seconds from one rotation to the next, each a tenth longer than the one before.
pub(crate) fn rotation_periods() -> impl ExactSizeIterator<Item = f64> {
    (0..46).map(|it| 0.25 * 1.1_f64.powi(it))
}

/// Every hypothesis.
pub(crate) fn hypotheses() -> Vec<Hypothesis> {
    let mut all = one_node();
    all.extend(routed());
    all
}

/// These, which share `mass` equally.
fn shared(mass: f64, hypotheses: impl IntoIterator<Item = Hypothesis>) -> Vec<Hypothesis> {
    let mut all: Vec<Hypothesis> = hypotheses.into_iter().collect();
    let each = mass / all.len() as f64;
    all.iter_mut().for_each(|it| it.prior = each);
    all
}

/// The same where a session is kept for about so many seconds: no server means to keep sessions for less than one.
fn shared_by_seconds(mass: f64, hypotheses: impl IntoIterator<Item = (f64, Hypothesis)>) -> Vec<Hypothesis> {
    let all: Vec<(f64, Hypothesis)> = hypotheses.into_iter().map(|(seconds, it)| (seconds.min(1.0), it)).collect();
    let sum: f64 = all.iter().map(|(weight, _)| weight).sum();
    all.into_iter().map(|(weight, it)| Hypothesis { prior: mass * weight / sum, ..it }).collect()
}

/// `count` points from `first` to `last`, each the same multiple of the one before.
fn geometric(first: f64, last: f64, count: u32) -> impl Iterator<Item = f64> + Clone {
    (0..count).map(move |it| first * (last / first).powf(f64::from(it) / f64::from(count - 1)))
}

fn living(seconds: f64) -> Memory {
    Memory { lifetime: Lifetime::Seconds(seconds), ..PERFECT }
}

fn holding(sessions: u32, others_a_second: f64) -> Memory {
    Memory { capacity: Some(Capacity { sessions, others_a_second, parts: 1 }), ..PERFECT }
}

/// In parts that hold so many sessions each.
fn in_parts(parts: u32, each: u32, others_a_second: f64) -> Memory {
    Memory { capacity: Some(Capacity { sessions: parts * each, others_a_second, parts }), ..PERFECT }
}

const ONCE: Memory = Memory { is_single_use: true, ..PERFECT };

/// Lifetimes of clocks that count whole seconds. Not 0 of them: that would be keys that are replaced each second.
fn whole_seconds() -> impl Iterator<Item = Memory> {
    let counts = (1..=6).chain([8, 10, 12, 15, 20, 30]).map(f64::from);
    let phases = (0..20).map(|it| f64::from(it) / 20.0);
    counts
        .flat_map(move |count| phases.clone().map(move |phase| (count, phase)))
        .map(|(count, phase)| Memory { lifetime: Lifetime::WholeSeconds { count, phase }, ..PERFECT })
}

fn one_node() -> Vec<Hypothesis> {
    let of = |cause: JudgedCause, memory: Memory| Hypothesis::of(&[cause]).remembering(memory);
    let lives = || geometric(0.05, 40.0, 48).map(living);
    let mut all = shared(0.45, [Hypothesis::of(&[])]);
    all.extend(shared(0.05, [of(NeverAccepted, NONE)]));
    all.extend(shared(0.02, [Hypothesis { has_fresh_keys: true, ..of(FreshKey, NONE) }]));
    // Experiments close in on a lifetime, so a coarse grid would have no point left between what lived and what died.
    all.extend(shared_by_seconds(0.035, geometric(0.05, 40.0, 420).map(|it| (it, of(TooShort, living(it))))));
    all.extend(shared(0.02, whole_seconds().map(|it| of(TooShort, it))));
    let capacities = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 25, 32];
    let others = || std::iter::once(0.0).chain(geometric(0.5, 64.0, 15));
    let small = |count: &u32, others: f64| (f64::from(*count) / others, of(TooSmall, holding(*count, others)));
    let all_small = |counts: &[u32]| {
        counts.iter().flat_map(|count| others().map(move |others| small(count, others))).collect::<Vec<_>>()
    };
    all.extend(shared_by_seconds(0.05, all_small(&capacities)));
    // An examination hardly reaches these.
    all.extend(shared_by_seconds(0.003, all_small(&[40, 50, 64])));
    let any = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64].into_iter().flat_map(|parts| TRAFFIC.map(|it| in_parts(parts, 1, it)));
    all.extend(shared(0.006, any.map(|it| of(TooSmall, it))));
    let parts = [2, 4, 8].into_iter().flat_map(|parts| [2, 3, 4, 6, 8].map(|each| (parts, each)));
    let parts = parts.flat_map(|(parts, each)| [0.0, 4.0].map(|others| in_parts(parts, each, others)));
    all.extend(shared(0.006, parts.map(|it| of(TooSmall, it))));
    all.extend(shared(0.03, [of(SingleUse, ONCE)]));
    // Tickets that only name their session, and serve once: a cache holds them.
    let both = |count: u32, others: f64| {
        let memory = Memory { is_single_use: true, ..holding(count, others) };
        (f64::from(count) / others, Hypothesis::of(&[SingleUse, TooSmall]).remembering(memory))
    };
    let traffic = || others().step_by(3);
    let held_once = [1, 2, 3, 4, 5, 6, 8, 12, 16, 25].into_iter().flat_map(|count| traffic().map(move |it| both(count, it)));
    all.extend(shared_by_seconds(0.01, held_once));
    for (variation, cause) in BOUND {
        let pair = |other: JudgedCause, memory: Memory| {
            Hypothesis::of(&[cause, other]).remembering(Memory { bound_to: Some(variation), ..memory })
        };
        all.extend(shared(0.02, [of(cause, Memory { bound_to: Some(variation), ..PERFECT })]));
        all.extend(shared(0.003, lives().map(|it| pair(TooShort, it))));
        all.extend(shared(0.003, [pair(SingleUse, ONCE)]));
        all.extend(shared(0.003, [1, 2, 3, 5, 8, 12, 16, 25].map(|count| pair(TooSmall, holding(count, 0.0)))));
    }
    let once_for =
        |memory: Memory| Hypothesis::of(&[SingleUse, TooShort]).remembering(Memory { is_single_use: true, ..memory });
    all.extend(shared(0.003, lives().map(once_for)));
    let limits = |bursts: &'static [u32], rates: u32| {
        let rates = geometric(0.1, 30.0, rates);
        bursts
            .iter()
            .flat_map(move |burst| rates.clone().map(move |a_second| Some(RateLimit { burst: f64::from(*burst), a_second })))
    };
    // Some were taken before: a window of 20 begins with any number.
    let bursts = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 26, 28, 32];
    all.extend(shared(0.03, limits(bursts, 14).map(|limit| Hypothesis { limit, ..of(Limited, PERFECT) })));
    all.extend(shared(
        0.01,
        limits(&[1, 2, 5, 10, 20], 8)
            .map(|limit| Hypothesis { limit, ..Hypothesis::of(&[Limited, NeverAccepted]).remembering(NONE) }),
    ));
    all.extend(shared(0.01, geometric(0.05, 6.0, 16).map(|least_age| of(RefusedYoung, Memory { least_age, ..PERFECT }))));
    all.extend(shared(0.01, (1..8).map(|most_depth| of(ChainCap, Memory { most_depth, ..PERFECT }))));
    all.extend(breaking_of_one_node());
    all
}

const POINTS: [BreakingPoint; 2] = [BreakingPoint::Offer, BreakingPoint::Resumption];

/// Offers break connections, each or a share of them.
fn breaking_of_one_node() -> Vec<Hypothesis> {
    let breaks = |others: &[JudgedCause], memory: Memory, breaking: Breaking| {
        Hypothesis::of(&[&[OfferBreaks], others].concat()).remembering(memory).breaking(breaking)
    };
    let at_times = |shares: &'static [f64]| {
        let each = |share: f64| POINTS.map(|at| Breaking { at, share, is_of_session: false });
        shares.iter().flat_map(move |share| each(*share))
    };
    let mut all = shared(0.02, POINTS.map(|at| breaks(&[], PERFECT, Breaking::always(at))));
    let each: Vec<Breaking> = at_times(&[0.9, 0.75, 0.6, 0.45, 0.33, 0.22, 0.14]).collect();
    all.extend(shared(0.012, each.iter().map(|it| breaks(&[], PERFECT, *it))));
    all.extend(shared(0.006, each.iter().map(|it| breaks(&[], PERFECT, Breaking { is_of_session: true, ..*it }))));
    let offers = || at_times(&[0.8, 0.5, 0.25]).filter(|it| it.at == BreakingPoint::Offer);
    all.extend(shared(0.004, offers().map(|it| breaks(&[NeverAccepted], NONE, it))));
    all.extend(shared(0.004, at_times(&[0.8, 0.5, 0.25]).map(|it| breaks(&[SingleUse], ONCE, it))));
    all
}

/// As many nodes as positions.
fn distinct(count: usize) -> Vec<u8> {
    (0..count as u8).collect()
}

fn turn(count: usize, others: f64) -> Route {
    Route::in_turn(&distinct(count), others, 0.0)
}

fn even(count: usize) -> Route {
    Route::by_chance(&distinct(count), &vec![1.0 / count as f64; count], 0.0)
}

/// The same nodes in turn under several amounts of traffic, and by equal chance.
fn ways(counts: &[usize], nodes: impl Fn(usize) -> Vec<u8>, traffic: &[f64]) -> Vec<Route> {
    let mut all = Vec::new();
    for count in counts {
        let nodes = nodes(*count);
        all.extend(traffic.iter().map(|others| Route::in_turn(&nodes, *others, 0.0)));
        all.push(Route::by_chance(&nodes, &vec![1.0 / *count as f64; *count], 0.0));
    }
    all
}

/// The ways that routes of nodes that do not share may go, each with its mass.
fn unshared() -> Vec<(f64, Vec<Route>)> {
    let jumping = |count: &usize| {
        let nodes = distinct(*count);
        let each = |others: f64| [0.12, 0.4].map(|jumps| Route::in_turn(&nodes, others, jumps));
        [0.0, 0.5].map(each).concat()
    };
    let weights: [&[f64]; 8] = [
        &[0.8, 0.2],
        &[0.7, 0.3],
        &[0.92, 0.08],
        &[0.65, 0.35],
        &[0.6, 0.25, 0.15],
        &[0.8, 0.1, 0.1],
        &[0.5, 0.3, 0.2],
        &[0.45, 0.25, 0.15, 0.15],
    ];
    let weighted = |weights: &[f64]| [0.0, 0.6].map(|stays| Route::by_chance(&distinct(weights.len()), weights, stays));
    let orders: [&[u8]; 7] = [
        &[0, 0, 1],
        &[0, 0, 0, 1],
        &[0, 0, 1, 0, 0, 1],
        &[0, 1, 0, 2],
        &[0, 1, 0, 0, 1],
        &[0, 1, 0, 2, 0, 1],
        &[0, 0, 1, 0, 2, 0],
    ];
    let first_differs = |count: usize| (0..count).map(|place| u8::from(place == 0)).collect();
    let sticky =
        |count: usize| [0.4, 0.8].map(|stays| Route::by_chance(&distinct(count), &vec![1.0 / count as f64; count], stays));
    let off = ways(&[2, 3, 4, 5], |count| vec![0; count], &TRAFFIC[..3]).into_iter();
    vec![
        (0.06, (2..9).flat_map(|count| TRAFFIC.map(|others| turn(count, others))).collect()),
        (0.02, [2, 3, 4, 5, 7].iter().flat_map(jumping).collect()),
        (0.04, (2..9).map(even).collect()),
        (0.01, [2, 3, 5].into_iter().flat_map(sticky).collect()),
        (0.03, weights.into_iter().flat_map(weighted).collect()),
        (0.02, orders.iter().flat_map(|order| [0.0, 0.5, 4.0].map(|it| Route::in_turn(order, it, 0.0))).collect()),
        (0.01, ways(&[3, 4, 5], first_differs, &TRAFFIC[..3])),
        (0.02, off.map(|route| Route { off: Some(0), ..route }).collect()),
    ]
}

fn routed() -> Vec<Hypothesis> {
    let is_down = |route: Route| Route { down: Some(0), ..route };
    let mut all = Vec::new();
    for (mass, routes) in unshared() {
        all.extend(shared(mass, routes.iter().map(|it| Hypothesis::of(&[NotShared]).over(it))));
    }
    let alike = ways(&[2, 3, 4, 5], |count| vec![0; count], &TRAFFIC[..3]);
    all.extend(shared(0.03, alike.into_iter().map(|it| Hypothesis::of(&[NodeDown]).over(&is_down(it)))));
    let forgetting = ways(&[2, 3, 4, 5], |count| vec![0; count], &TRAFFIC[..3]);
    let forgets = Hypothesis::of(&[NodeDown, NeverAccepted]).remembering(NONE);
    all.extend(shared(0.01, forgetting.into_iter().map(|it| forgets.clone().over(&is_down(it)))));
    let apart = ways(&[3, 4, 5], distinct, &TRAFFIC[..3]);
    all.extend(shared(0.01, apart.into_iter().map(|it| Hypothesis::of(&[NodeDown, NotShared]).over(&is_down(it)))));
    // One of them breaks what is offered to it, and the others do not; or each breaks what it resumes.
    let one_breaks = |route: Route| Route { breaks: Some(0), ..route };
    for at in POINTS {
        let breaking = Breaking::always(at);
        let alike = ways(&[2, 3, 4, 5], |count| vec![0; count], &TRAFFIC[..3]).into_iter();
        all.extend(shared(0.006, alike.map(|it| Hypothesis::of(&[OfferBreaks]).breaking(breaking).over(&one_breaks(it)))));
        let apart = Hypothesis::of(&[OfferBreaks, NotShared]).breaking(breaking);
        let routes = ways(&[2, 3, 4], distinct, &TRAFFIC[..3]).into_iter();
        all.extend(shared(0.003, routes.map(|it| apart.clone().over(&one_breaks(it)))));
    }
    // Their keys or certificates differ, and none accepts any.
    let deaf = ways(&[2, 3, 4, 5], distinct, &[0.0]);
    all.extend(shared(0.005, deaf.into_iter().map(|it| Hypothesis::of(&[NeverAccepted]).remembering(NONE).over(&it))));
    let mut few: Vec<Route> = [2, 3, 4].into_iter().flat_map(|count| [turn(count, 0.0), turn(count, 4.0)]).collect();
    few.extend([2, 3, 4].map(|count| Route::in_turn(&distinct(count), 0.5, 0.12)));
    few.extend([2, 3, 4].map(even));
    let lives: Vec<Memory> = geometric(0.3, 6.0, 7).map(living).collect();
    let pair = |other: JudgedCause, route: &Route, memory: Memory| {
        Hypothesis::of(&[NotShared, other]).remembering(memory).over(route)
    };
    all.extend(shared(0.015, few.iter().flat_map(|route| lives.iter().map(|it| pair(TooShort, route, *it)))));
    all.extend(shared(0.008, few.iter().map(|route| pair(SingleUse, route, ONCE))));
    let always = Breaking::always(BreakingPoint::Resumption);
    let each = [always, Breaking { share: 0.5, ..always }, Breaking { at: BreakingPoint::Offer, share: 0.5, ..always }];
    let breaks = |route: &Route| each.map(|it| pair(OfferBreaks, route, PERFECT).breaking(it));
    all.extend(shared(0.006, few.iter().flat_map(breaks)));
    let small = [2, 4, 8].map(|count| holding(count, 0.0));
    all.extend(shared(0.008, few.iter().take(3).flat_map(|route| small.map(|it| pair(TooSmall, route, it)))));
    for (variation, cause) in BOUND {
        let memory = Memory { bound_to: Some(variation), ..PERFECT };
        all.extend(shared(0.004, few.iter().map(|route| pair(cause, route, memory))));
    }
    all
}
