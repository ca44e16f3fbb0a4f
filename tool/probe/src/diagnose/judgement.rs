//! What the judge concludes of one mechanism, and from which connections.

use std::collections::HashMap;
use std::hash::Hash;

use reprise_judge::{Conclusion, Judge, JudgedCause};
use reprise_model::document::BalancedNodes;
use reprise_model::{Asked, Kind, Observation, Ticket, TicketKeyName};

/// What shows where nothing is accepted.
const NEVER_ACCEPTED: [JudgedCause; 3] = [JudgedCause::NeverAccepted, JudgedCause::FreshKey, JudgedCause::RefusedYoung];

/// What the judge concludes of one mechanism.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The version and the mechanism.
    pub asked: Asked,
    /// What is more likely than not, the likeliest first.
    pub conclusions: Vec<Conclusion>,
    /// The odds that none of the hypotheses holds.
    pub unknown: f64,
    /// The odds that no session is accepted, as far as it looked: one that is refused until it is older looks the same.
    pub never_accepted: f64,
    /// The nodes behind the address, where it is sure that there are several.
    pub nodes: Option<BalancedNodes>,
    /// The connections that it rests on, in the order of time.
    pub observations: Vec<Observation>,
}

impl Judgement {
    /// What `judge` makes of `observations`, all of which it was told.
    pub fn new(asked: Asked, judge: &Judge, conclusions: Vec<Conclusion>, observations: Vec<Observation>) -> Self {
        let [unknown, never_accepted] = [judge.odds(&[JudgedCause::Unknown]), judge.odds(&NEVER_ACCEPTED)];
        Self { asked, conclusions, unknown, never_accepted, nodes: judge.nodes(), observations }
    }

    /// What it says of this cause.
    pub fn of(&self, cause: JudgedCause) -> Option<&Conclusion> {
        self.conclusions.iter().find(|conclusion| conclusion.cause == cause)
    }

    /// Whether what becomes of a session depends on nothing but the offer: only then does what is changed show anything.
    pub fn is_steady(&self) -> bool {
        let is_of_the_offer = |cause| {
            matches!(
                cause,
                JudgedCause::SingleUse
                    | JudgedCause::NeverAccepted
                    | JudgedCause::FreshKey
                    | JudgedCause::OfferBreaks
                    | JudgedCause::AnswersDiffer
            )
        };
        // Where offers fail at times, so do those of an experiment.
        let fails_at_times = self.of(JudgedCause::OfferBreaks).is_some() && self.offers().next().is_some();
        self.unknown < 1.0 && !fails_at_times && self.conclusions.iter().all(|conclusion| is_of_the_offer(conclusion.cause))
    }

    /// The connections that offered a session of this mechanism and failed.
    pub fn failed_offers(&self) -> impl Iterator<Item = &Observation> {
        let is_of_this = |seen: &&Observation| {
            seen.is_failed_offer()
                && seen.offered.is_some_and(|it| it.kind == self.asked.kind)
                && seen.asked.tls == self.asked.tls
        };
        self.observations.iter().filter(is_of_this)
    }

    /// The connections that offered a session of this mechanism and completed.
    pub fn offers(&self) -> impl Iterator<Item = &Observation> {
        let is_offer = |seen: &&Observation| {
            let is_of_this = seen.offered.is_some_and(|it| it.kind == self.asked.kind) && seen.asked.tls == self.asked.tls;
            is_of_this && seen.facts().is_some_and(|facts| facts.session_offered)
        };
        self.observations.iter().filter(is_offer)
    }
}

/// The first bytes of the first ticket that a connection gave, where it is long enough to hold a session: they may name the key.
pub fn key_name(seen: &Observation) -> Option<TicketKeyName> {
    seen.facts()?.tickets.iter().next().filter(|ticket| Ticket::holds_its_session(ticket)).map(|ticket| ticket.key_name)
}

/// Whether the first bytes of the tickets of these connections name keys: some come twice.
pub fn are_named<'s>(seen: impl Iterator<Item = &'s Observation>, asked: Asked) -> bool {
    asked.kind != Kind::Id && counts(seen.filter_map(key_name)).values().any(|count| *count > 1)
}

/// What tells the nodes behind one address apart, where anything does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeNames {
    /// The names of their ticket keys.
    Keys,
    /// Their certificates, which only full handshakes show.
    Leaves,
    /// Nothing.
    None,
}

impl NodeNames {
    /// As these connections show: key names where some come twice, certificates where two come twice and keys do not differ.
    pub fn of<'s>(seen: impl Iterator<Item = &'s Observation> + Clone, asked: Asked) -> Self {
        let are_named = are_named(seen.clone(), asked);
        let leaves = counts(seen.clone().filter_map(leaf));
        let leaves_differ = leaves.values().filter(|count| **count > 1).count() > 1;
        match are_named {
            true if !leaves_differ || counts(seen.filter_map(key_name)).len() > 1 => Self::Keys,
            _ if leaves_differ => Self::Leaves,
            _ => Self::None,
        }
    }

    /// The name of the node that this connection reached, where it shows one.
    pub fn of_node(self, seen: &Observation) -> Option<String> {
        match self {
            Self::Keys => key_name(seen).map(|name| name.to_string()),
            Self::Leaves => leaf(seen).map(|leaf| leaf.iter().map(|byte| format!("{byte:02x}")).collect()),
            Self::None => None,
        }
    }
}

fn leaf(seen: &Observation) -> Option<[u8; 32]> {
    seen.facts().filter(|facts| facts.kind == Kind::Full)?.leaf
}

fn counts<T: Eq + Hash>(all: impl Iterator<Item = T>) -> HashMap<T, u32> {
    let mut counts = HashMap::new();
    all.for_each(|it| *counts.entry(it).or_default() += 1);
    counts
}
