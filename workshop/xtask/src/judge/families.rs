//! The families of simulated servers: what each is, drawn at random, and what is right to say of it.

use super::draw::Draw;
use super::spec::{Breaking, Choice, Oddity, Spec};

/// Servers of one kind.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) make: fn(&mut Draw) -> Spec,
}

type Slugs = &'static [&'static str];

const NEVER: Slugs = &["id-never-accepted"];
const NEVER_OR_FRESH: Slugs = &["id-never-accepted", "context-per-connection"];
const FRESH: Slugs = &["context-per-connection"];
const NODES: Slugs = &["hidden-nodes", "id-cache-per-process", "ticket-key-per-node"];
const NODES_OR_NAME: Slugs = &["hidden-nodes", "sni-differs", "vhost-directives"];
const SHORT: Slugs = &["lifetime-short", "timeout-ignored"];
const SMALL: Slugs = &["cache-too-small"];
const SHORT_OR_SMALL: Slugs = &["lifetime-short", "cache-too-small"];
const KEYS: Slugs = &["restart-lost-keys", "rotation-no-overlap", "config-rebuilt-on-reload"];
const ONCE: Slugs = &["single-use"];
const YOUNG: Slugs = &["key-propagation-skew", "clock-skew"];
const CHAIN: Slugs = &["chain-cap"];
const LIMIT: Slugs = &["rate-limited"];
const DOWN: Slugs = &["node-down"];
const BREAKS: Slugs = &["offer-breaks-connection"];
const ANSWERS: Slugs = &["answers-differ"];
const BOUND: [(&str, Slugs); 3] = [
    ("name", &["sni-differs", "vhost-directives"]),
    ("suite", &["suite-differs"]),
    ("cert", &["isolated-by-design", "client-policy-changed"]),
];

/// Three of ten have nothing that had to be found: healthy ones of several kinds, and those that nobody can tell.
static FAMILIES: &[Family] = &[
    family("healthy", healthy),
    family("healthy-busy", |draw| Spec { others: draw.scale(1.0, 50.0), ..healthy(draw) }),
    family("healthy-long-lived", |draw| Spec { lifetime: draw.scale(60.0, 600.0), ..healthy(draw) }),
    family("nodes-that-share", |draw| {
        let count = draw.count(2, 6);
        let choice = choice(draw, count);
        Spec { positions: vec![0; count], choice, ..healthy(draw) }
    }),
    family("never-accepted", |draw| {
        let spec = Spec { accepts: false, ..healthy(draw) };
        let right = if spec.shows_key_names { NEVER } else { NEVER_OR_FRESH };
        needing(spec, right)
    }),
    family("in-turn", |draw| {
        let count = draw.count(2, 6);
        let others = if draw.is(0.5) { 0.0 } else { draw.scale(0.3, 20.0) };
        let spec = Spec { positions: (0..count).collect(), choice: Choice::InTurn { jumps: 0.0 }, others, ..healthy(draw) };
        needing(spec, NODES)
    }),
    family("weighted", |draw| {
        let count = draw.count(2, 4);
        let weights: Vec<f64> = (0..count).map(|_| draw.between(0.15, 1.0)).collect();
        let spec =
            Spec { positions: (0..count).collect(), choice: Choice::ByChance { weights, stays: 0.0 }, ..healthy(draw) };
        needing(spec, NODES)
    }),
    family("weighted-in-turn", |draw| {
        let orders: [&[usize]; 5] = [&[0, 0, 1], &[0, 0, 0, 1], &[0, 1, 0, 2], &[0, 0, 1, 0, 0, 1], &[0, 1, 1]];
        let positions = draw.one_of(&orders).to_vec();
        needing(Spec { positions, choice: Choice::InTurn { jumps: 0.0 }, ..healthy(draw) }, NODES)
    }),
    family("random", |draw| {
        let count = draw.count(2, 5);
        let choice = Choice::ByChance { weights: vec![1.0; count], stays: 0.0 };
        needing(Spec { positions: (0..count).collect(), choice, ..healthy(draw) }, NODES)
    }),
    family("least-connections", |draw| {
        let (count, jumps) = (draw.count(2, 5), draw.between(0.05, 0.5));
        let others = draw.one_of(&[0.0, 0.5, 3.0]);
        needing(Spec { positions: (0..count).collect(), choice: Choice::InTurn { jumps }, others, ..healthy(draw) }, NODES)
    }),
    family("by-source", |draw| {
        let count = draw.count(2, 5);
        let choice = Choice::BySource(draw.count(0, count - 1));
        Spec { positions: (0..count).collect(), choice, right: vec![NODES], ..healthy(draw) }
    }),
    family("by-name", |draw| {
        let spec = Spec { positions: vec![0, 1], choice: Choice::ByName, ..healthy(draw) };
        needing(spec, NODES_OR_NAME)
    }),
    family("worker-processes", |draw| {
        let count = draw.count(2, 6);
        let choice = Choice::ByChance { weights: vec![1.0; count], stays: draw.one_of(&[0.0, 0.0, 0.3]) };
        let spec = Spec { positions: (0..count).collect(), choice, shows_key_names: false, ..healthy(draw) };
        needing(spec, NODES)
    }),
    family("lifetime", |draw| {
        let lifetime = draw.scale(0.2, 7.0);
        needing(Spec { lifetime, ..healthy(draw) }, SHORT)
    }),
    family("lifetime-in-whole-seconds", |draw| {
        let lifetime = draw.count(1, 6) as f64;
        needing(Spec { lifetime, counts_whole_seconds: true, ..healthy(draw) }, SHORT)
    }),
    family("capacity", |draw| {
        let capacity = Some(draw.count(1, 14));
        needing(Spec { capacity, ..healthy(draw) }, SMALL)
    }),
    family("capacity-with-others", |draw| {
        let (capacity, others) = (draw.count(2, 30), draw.scale(2.0, 30.0));
        let spec = Spec { capacity: Some(capacity), others, ..healthy(draw) };
        if (capacity as f64) < 4.0 * others {
            needing(spec, SHORT_OR_SMALL)
        } else {
            Spec { right: vec![SHORT_OR_SMALL], ..spec }
        }
    }),
    family("capacity-in-parts", |draw| {
        let (parts, each, tickets) = (draw.one_of(&[2, 4, 8]), draw.count(1, 8), draw.count(1, 2));
        let spec = Spec { capacity: Some(each), parts, tickets, ..healthy(draw) };
        if parts * each < 12 * tickets { needing(spec, SMALL) } else { Spec { right: vec![SMALL], ..spec } }
    }),
    family("capacity-of-single-use", |draw| {
        let (capacity, tickets) = (draw.count(1, 12), draw.count(1, 2));
        let spec = Spec { capacity: Some(capacity), tickets, is_single_use: true, ..healthy(draw) };
        let spec = if capacity > tickets { needing(spec, ONCE) } else { Spec { right: vec![ONCE], ..spec } };
        needing(spec, SMALL)
    }),
    family("rotation", |draw| {
        let (period, phase) = (draw.scale(0.4, 4.0), draw.unit());
        let key_changes = (0..200).map(|it| period * (f64::from(it) + phase)).collect();
        needing(Spec { key_changes, ..healthy(draw) }, KEYS)
    }),
    family("restart", |draw| {
        let key_changes = vec![draw.between(0.0, 3.0)];
        Spec { key_changes, right: vec![KEYS], ..healthy(draw) }
    }),
    family("single-use", |draw| needing(Spec { is_single_use: true, ..healthy(draw) }, ONCE)),
    family("bound", |draw| {
        let (bound, right) = draw.one_of(&BOUND);
        needing(Spec { bound_to: Some(bound), ..healthy(draw) }, right)
    }),
    family("rate-limit", |draw| {
        let limit = Some((draw.count(1, 12) as f64, draw.scale(0.5, 6.0)));
        needing(Spec { limit, ..healthy(draw) }, LIMIT)
    }),
    family("node-down", |draw| {
        let count = draw.count(2, 5);
        let choice = choice(draw, count);
        let spec = Spec { positions: vec![0; count], choice, dead: Some(draw.count(0, count - 1)), ..healthy(draw) };
        needing(spec, DOWN)
    }),
    family("node-that-differs", |draw| {
        let count = draw.count(2, 5);
        let choice = choice(draw, count);
        let odd = draw.count(0, count - 1);
        let spec = Spec { choice, ..healthy(draw) };
        let spec = if draw.is(0.5) {
            Spec { positions: vec![0; count], off: Some(odd), ..spec }
        } else {
            Spec { positions: (0..count).map(|it| usize::from(it == odd)).collect(), ..spec }
        };
        needing(spec, NODES)
    }),
    family("offer-breaks", |draw| needing(Spec { breaking: Some(breaking(draw, 1.0)), ..healthy(draw) }, BREAKS)),
    family("key-per-connection", |draw| {
        let spec = Spec { has_fresh_keys: true, ..healthy(draw) };
        let right = if spec.shows_key_names { FRESH } else { NEVER_OR_FRESH };
        needing(spec, right)
    }),
    family("refused-while-young", |draw| {
        let least_age = draw.scale(0.15, 4.0);
        needing(Spec { least_age, ..healthy(draw) }, YOUNG)
    }),
    family("chain-cap", |draw| {
        let most_depth = draw.count(1, 6);
        needing(Spec { most_depth, ..healthy(draw) }, CHAIN)
    }),
    family("offer-breaks-at-times", |draw| {
        let breaking = Breaking { is_of_session: draw.is(0.4), ..breaking_at_times(draw) };
        needing(Spec { breaking: Some(breaking), ..healthy(draw) }, BREAKS)
    }),
    family("offer-breaks-at-one-node", |draw| {
        let count = draw.count(2, 4);
        let choice = choice(draw, count);
        let breaking = Breaking { position: Some(draw.count(0, count - 1)), ..breaking(draw, 1.0) };
        needing(Spec { positions: vec![0; count], choice, breaking: Some(breaking), ..healthy(draw) }, BREAKS)
    }),
    family("offer-breaks-at-nodes", |draw| {
        // What is accepted nowhere but at its own node breaks there: both are right to say.
        let count = draw.count(2, 4);
        let choice = choice(draw, count);
        let spec = Spec { positions: (0..count).collect(), choice, breaking: Some(breaking(draw, 1.0)), ..healthy(draw) };
        Spec { right: vec![BREAKS, NODES], ..spec }
    }),
    family("answers-differ", |draw| {
        let share = draw.between(0.6, 1.0);
        let resumed_errors = draw.one_of(&[1.0, 1.0, share]);
        needing(Spec { resumed_errors, others: draw.one_of(&[0.0, 2.0]), ..healthy(draw) }, ANSWERS)
    }),
    family("errors-of-a-node", |draw| {
        let count = draw.count(2, 5);
        let choice = choice(draw, count);
        needing(Spec { positions: vec![0; count], choice, ill: Some(draw.count(0, count - 1)), ..healthy(draw) }, DOWN)
    }),
    family("two-causes", two_causes),
    family("two-causes-of-one-node", two_causes_of_one_node),
    family("outside", |draw| {
        let oddities = [
            Oddity::EveryThirdOffer,
            Oddity::ByTimeOfDay { period: draw.scale(0.3, 3.0) },
            Oddity::WhereQuiet { most: draw.count(2, 8) },
            Oddity::LessWithUse,
            Oddity::ByLastOutcome,
        ];
        Spec { oddity: Some(draw.one_of(&oddities)), ..healthy(draw) }
    }),
];

const fn family(name: &'static str, make: fn(&mut Draw) -> Spec) -> Family {
    Family { name, make }
}

pub(crate) fn of_number(number: u64) -> &'static Family {
    &FAMILIES[(number % FAMILIES.len() as u64) as usize]
}

pub(crate) fn find(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|family| family.name)
}

fn healthy(draw: &mut Draw) -> Spec {
    Spec {
        positions: vec![0],
        choice: Choice::BySource(0),
        dead: None,
        off: None,
        others: 0.0,
        accepts: true,
        lifetime: f64::INFINITY,
        counts_whole_seconds: false,
        capacity: None,
        parts: 1,
        tickets: 1,
        is_single_use: false,
        least_age: 0.0,
        most_depth: usize::MAX,
        bound_to: None,
        has_fresh_keys: false,
        key_changes: Vec::new(),
        limit: None,
        breaking: None,
        resumed_errors: 0.0,
        ill: None,
        oddity: None,
        shows_key_names: draw.is(0.5),
        pace: draw.scale(0.004, 0.08),
        noise: draw.one_of(&[0.0, 0.01]),
        right: Vec::new(),
        is_decidable: false,
    }
}

/// A server with one cause more that has to be found.
fn needing(mut spec: Spec, right: Slugs) -> Spec {
    spec.right.push(right);
    spec.is_decidable = true;
    spec
}

fn breaking(draw: &mut Draw, share: f64) -> Breaking {
    Breaking { after_acceptance: draw.is(0.5), share, is_of_session: false, position: None }
}

fn breaking_at_times(draw: &mut Draw) -> Breaking {
    let share = draw_share(draw);
    breaking(draw, share)
}

/// A share that some dozen connections show.
fn draw_share(draw: &mut Draw) -> f64 {
    draw.between(0.3, 0.95)
}

fn choice(draw: &mut Draw, count: usize) -> Choice {
    if draw.is(0.5) {
        return Choice::InTurn { jumps: 0.0 };
    }
    Choice::ByChance { weights: vec![1.0; count], stays: 0.0 }
}

fn two_causes(draw: &mut Draw) -> Spec {
    let count = draw.count(2, 4);
    let choice = choice(draw, count);
    let nodes = needing(Spec { positions: (0..count).collect(), choice, ..healthy(draw) }, NODES);
    match draw.count(0, 3) {
        0 => needing(Spec { is_single_use: true, ..nodes }, ONCE),
        1 => needing(Spec { lifetime: draw.scale(0.5, 4.0), ..nodes }, SHORT),
        2 => needing(
            Spec { dead: Some(0), positions: (0..count + 1).collect(), choice: Choice::InTurn { jumps: 0.0 }, ..nodes },
            DOWN,
        ),
        _ => {
            let (bound, right) = draw.one_of(&BOUND);
            needing(Spec { bound_to: Some(bound), ..nodes }, right)
        }
    }
}

fn two_causes_of_one_node(draw: &mut Draw) -> Spec {
    let lifetime = draw.scale(0.4, 5.0);
    if draw.is(0.3) {
        return needing(needing(Spec { is_single_use: true, lifetime, ..healthy(draw) }, ONCE), SHORT);
    }
    let (bound, right) = draw.one_of(&BOUND);
    let spec = needing(Spec { bound_to: Some(bound), ..healthy(draw) }, right);
    match draw.count(0, 2) {
        0 => needing(Spec { is_single_use: true, ..spec }, ONCE),
        1 => needing(Spec { lifetime, ..spec }, SHORT),
        _ => needing(Spec { capacity: Some(draw.count(1, 10)), ..spec }, SMALL),
    }
}
