//! What rules ask of a fleet.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use reprise_model::document::Finding;
use reprise_model::{Asked, ClientAuthentication, FailureClass, FaultName, Kind, Nanos, TicketKeyName, Version};
use reprise_probe::diagnose::{are_named, key_name};
use reprise_probe::fleet::{FleetExamination, MECHANISMS, accepted};

/// A finding about some of the nodes, and why they stand apart, in a few words.
pub(crate) struct FleetFinding {
    pub(crate) finding: Finding,
    /// The nodes that it sets apart.
    pub(crate) nodes: Vec<usize>,
    /// "another ticket key".
    pub(crate) reason: &'static str,
}

/// What findings about a fleet are drawn from.
pub(crate) struct FleetCase<'a> {
    pub(crate) examination: &'a FleetExamination,
    /// The nodes as they are called.
    pub(crate) names: Vec<String>,
    pub(crate) nodes: Vec<Node>,
    /// Whether all nodes are asked for the same name: servers bind sessions to it.
    pub(crate) is_one_name: bool,
    /// Whether the nodes are the addresses of one name: no balancer stands before them.
    pub(crate) are_addresses: bool,
    offers: BTreeMap<(Asked, usize, usize), Vec<Offer>>,
    changes: BTreeMap<(Asked, usize), Nanos>,
}

/// What its connections show of one node.
#[derive(Default)]
pub(crate) struct Node {
    /// The names of its ticket keys, where they are names, in the order in which they came.
    pub(crate) key_names: BTreeMap<Asked, Vec<TicketKeyName>>,
    pub(crate) leaves: BTreeSet<[u8; 32]>,
    /// The suites that it chose.
    pub(crate) suites: BTreeMap<Version, BTreeSet<u16>>,
    /// The versions that no full handshake completed in, though one was tried.
    pub(crate) refused: BTreeSet<Version>,
    /// Whether full handshakes asked for a client certificate.
    pub(crate) asks_for_certificate: BTreeSet<bool>,
    /// When it could not be reached, between connections that completed.
    pub(crate) was_away: Vec<Nanos>,
    pub(crate) failed: u32,
    pub(crate) last_failure: Option<FaultName>,
}

/// Nodes that differ from what most are. Both are empty where none differs.
#[derive(Default)]
pub(crate) struct Unlike {
    /// Those that most are like.
    pub(crate) most: Vec<usize>,
    /// Those that differ.
    pub(crate) nodes: Vec<usize>,
}

impl Unlike {
    /// Pairs of one that differs and one of the most, both ways.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.nodes.iter().flat_map(|node| self.most.iter().flat_map(|most| [(*node, *most), (*most, *node)]))
    }
}

/// One session of a node, offered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub(crate) issued: Nanos,
    pub(crate) start: Nanos,
    pub(crate) key_name: Option<TicketKeyName>,
    pub(crate) is_accepted: bool,
}

/// Whether one node accepts another's sessions, as far as all agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Accepts,
    Refuses,
    /// Now and then.
    Mixed,
    /// Too few offers.
    Unknown,
}

/// So many offers that agree are a relation.
const ENOUGH: usize = 2;

impl<'a> FleetCase<'a> {
    pub(crate) fn new(
        examination: &'a FleetExamination,
        names: Vec<String>,
        is_one_name: bool,
        are_addresses: bool,
    ) -> Self {
        let nodes = (0..names.len()).map(|node| Node::of(examination, node)).collect();
        let mut offers: BTreeMap<(Asked, usize, usize), Vec<Offer>> = BTreeMap::new();
        for crossed in &examination.crossed {
            let (Some(from), Some(is_accepted)) = (crossed.from, accepted(crossed)) else { continue };
            let Some(offered) = crossed.observation.offered else { continue };
            let start = crossed.observation.start;
            let issued = start.since(offered.age);
            let offer = Offer { issued, start, key_name: offered.key_name, is_accepted };
            offers.entry((crossed.asked, from, crossed.to)).or_default().push(offer);
        }
        let mut case = Self { examination, names, nodes, is_one_name, are_addresses, offers, changes: BTreeMap::new() };
        for asked in MECHANISMS {
            for node in 0..case.nodes.len() {
                if let Some(time) = case.change_of(asked, node) {
                    case.changes.insert((asked, node), time);
                }
            }
        }
        case
    }

    /// All offers of `from` to `to`, in the order of time.
    pub(crate) fn offers(&self, asked: Asked, from: usize, to: usize) -> &[Offer] {
        self.offers.get(&(asked, from, to)).map_or(&[], Vec::as_slice)
    }

    /// How many offers there were, and how many were resumed.
    pub(crate) fn counts(&self, asked: Asked, from: usize, to: usize) -> (u32, u32) {
        let offers = self.offers(asked, from, to);
        (offers.len() as u32, offers.iter().filter(|offer| offer.is_accepted).count() as u32)
    }

    /// Every pair of nodes between which sessions of this mechanism were offered.
    pub(crate) fn pairs(&self, asked: Asked) -> impl Iterator<Item = (usize, usize)> {
        self.offers.keys().filter(move |(of, ..)| *of == asked).map(|(_, from, to)| (*from, *to))
    }

    /// Whether `to` accepts what `from` gave, leaving aside sessions from before a change of either.
    pub(crate) fn relation(&self, asked: Asked, from: usize, to: usize) -> Relation {
        let offers = self.offers(asked, from, to).iter().filter(|offer| {
            let crosses = |node| self.change(asked, node).is_some_and(|time| offer.issued < time && offer.start >= time);
            !crosses(from) && !crosses(to)
        });
        let outcomes: Vec<bool> = offers.map(|offer| offer.is_accepted).collect();
        let enough = if self.examination.is_sampled { 1 } else { ENOUGH };
        match outcomes.iter().filter(|is| **is).count() {
            _ if outcomes.len() < enough => Relation::Unknown,
            0 => Relation::Refuses,
            count if count == outcomes.len() => Relation::Accepts,
            // What is accepted from one moment on is accepted.
            _ if self.becomes_known(asked, from, to).is_some() => Relation::Accepts,
            _ => Relation::Mixed,
        }
    }

    /// Whether a node accepts its own sessions, each time.
    pub(crate) fn accepts_its_own(&self, asked: Asked, node: usize) -> bool {
        self.relation(asked, node, node) == Relation::Accepts
    }

    /// Pairs of nodes that accept their own sessions each time, of which `to` refuses those of `from` each time.
    pub(crate) fn refusing_pairs(&self, asked: Asked) -> Vec<(usize, usize)> {
        let refuses = |(from, to): &(usize, usize)| {
            from != to
                && self.accepts_its_own(asked, *from)
                && self.accepts_its_own(asked, *to)
                && self.relation(asked, *from, *to) == Relation::Refuses
        };
        self.pairs(asked).filter(refuses).collect()
    }

    /// Those in which neither accepts the other's, each once.
    pub(crate) fn parted_pairs(&self, asked: Asked) -> Vec<(usize, usize)> {
        let refusing = self.refusing_pairs(asked);
        let is_parted = |(from, to): &(usize, usize)| {
            let is_back = refusing.contains(&(*to, *from));
            from < to && (is_back || self.examination.is_sampled && self.offers(asked, *to, *from).is_empty())
        };
        let mut parted: Vec<(usize, usize)> = refusing.iter().copied().filter(is_parted).collect();
        if self.examination.is_sampled {
            let one_way = refusing.iter().filter(|(from, to)| from > to && self.offers(asked, *to, *from).is_empty());
            parted.extend(one_way.map(|(from, to)| (*to, *from)));
        }
        parted
    }

    /// When a node lost what it knew: its sessions of before are refused by itself from then on, and those of after accepted.
    pub(crate) fn change(&self, asked: Asked, node: usize) -> Option<Nanos> {
        self.changes.get(&(asked, node)).copied()
    }

    fn change_of(&self, asked: Asked, node: usize) -> Option<Nanos> {
        let own = self.offers(asked, node, node);
        let first_refused = own.iter().filter(|offer| !offer.is_accepted).map(|offer| offer.start).min()?;
        // Everything that was accepted after it was given after the change, and that lies before the first refusal.
        let later = own.iter().filter(|offer| offer.is_accepted && offer.start > first_refused);
        let time = later.map(|offer| offer.issued).min()?.min(first_refused);
        let crosses = |offer: &&Offer| offer.issued < time && offer.start >= time;
        let lost = own.iter().filter(crosses);
        let is_clean = own.iter().all(|offer| offer.is_accepted != (offer.issued < time && offer.start >= time));
        let was_accepted_before = own.iter().any(|offer| offer.is_accepted && offer.start < time);
        (is_clean && was_accepted_before && lost.count() > 0).then_some(time)
    }

    /// When sessions of `from` under its last key became known to `to`, which had refused them before.
    pub(crate) fn becomes_known(&self, asked: Asked, from: usize, to: usize) -> Option<Nanos> {
        let name = self.nodes.get(from)?.key_names.get(&asked)?.last().copied();
        let of_key: Vec<&Offer> = self.offers(asked, from, to).iter().filter(|offer| offer.key_name == name).collect();
        let first = of_key.iter().position(|offer| offer.is_accepted)?;
        let (before, after) = of_key.split_at_checked(first)?;
        let is_known = after.len() >= ENOUGH && after.iter().all(|offer| offer.is_accepted);
        (before.len() >= ENOUGH && is_known).then(|| after.first().map(|offer| offer.start)).flatten()
    }

    /// Whether tickets of both name their keys, and no name is the same; `None` where they do not name them.
    pub(crate) fn keys_differ(&self, asked: Asked, one: usize, other: usize) -> Option<bool> {
        let names = |node: usize| self.nodes.get(node)?.key_names.get(&asked).filter(|names| !names.is_empty());
        let (one, other) = (names(one)?, names(other)?);
        Some(!one.iter().any(|name| other.contains(name)))
    }

    /// Nodes that lost what they knew, whose key is not one that others have now as well.
    pub(crate) fn nodes_that_lost_keys(&self, asked: Asked) -> Vec<usize> {
        let last = |node: usize| self.nodes.get(node)?.key_names.get(&asked)?.last().copied();
        let all = 0..self.nodes.len();
        let lost: Vec<usize> = all.filter(|node| self.change(asked, *node).is_some()).collect();
        let is_shared =
            |node: &usize| lost.iter().any(|other| other != node && last(*other).is_some() && last(*other) == last(*node));
        lost.iter().copied().filter(|node| !is_shared(node)).collect()
    }

    /// Whether a node was asked in vain: no handshake completed, or none any more at the end.
    pub(crate) fn is_down(&self, node: usize) -> bool {
        let is_given_up = self.examination.states.get(node).is_some_and(|state| state.given_up.is_some());
        is_given_up || self.nodes.get(node).is_some_and(|node| !node.is_reached() && node.failed > 0)
    }

    /// Whether a node could not be reached for a moment.
    pub(crate) fn was_away(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| !node.was_away.is_empty())
    }

    /// Pairs of nodes whose clocks differ by more than so many seconds: who is ahead, who is behind, by how many seconds at least.
    pub(crate) fn clocks_apart(&self, tolerated: i64) -> Vec<(usize, usize, i64)> {
        let clock = |node: usize| self.examination.states.get(node)?.clock;
        let all = 0..self.nodes.len();
        let pairs = all.clone().flat_map(|one| all.clone().map(move |other| (one, other)));
        let apart = pairs.filter_map(|(one, other)| Some((one, other, (clock(one)?.0 - clock(other)?.1) / 1000)));
        apart.filter(|(.., by)| *by > tolerated).collect()
    }

    /// Whether something else than the key may be what these pairs refuse each other's sessions for.
    pub(crate) fn is_explained_otherwise(&self, asked: Asked, pairs: &[(usize, usize)]) -> bool {
        let what = |node: usize| {
            let node = self.nodes.get(node)?;
            Some((&node.leaves, node.suites.get(&asked.tls), &node.asks_for_certificate))
        };
        pairs.iter().any(|(one, other)| what(*one) != what(*other))
    }

    /// The nodes of which this differs from what most have; none where it is not known.
    pub(crate) fn unlike_the_most<T: Ord>(&self, of: impl Fn(&Node) -> Option<T>) -> Unlike {
        let mut nodes: BTreeMap<T, Vec<usize>> = BTreeMap::new();
        for (place, node) in self.nodes.iter().enumerate() {
            if let Some(value) = of(node) {
                nodes.entry(value).or_default().push(place);
            }
        }
        let mut alike: Vec<Vec<usize>> = nodes.into_values().collect();
        alike.sort_by_key(|of| (std::cmp::Reverse(of.len()), of.first().copied()));
        match alike.split_first() {
            Some((most, others)) if !others.is_empty() => Unlike { most: most.clone(), nodes: others.concat() },
            _ => Unlike::default(),
        }
    }

    /// Whether `to` refuses the tickets of `from` though both name the same key. Where none is named, it may be the key.
    pub(crate) fn refuses_under_one_key(&self, asked: Asked, (from, to): (usize, usize)) -> bool {
        self.relation(asked, from, to) == Relation::Refuses && self.keys_differ(asked, from, to) == Some(false)
    }

    /// "a, b and c"; of many, some.
    pub(crate) fn list(&self, nodes: &[usize]) -> String {
        const MOST: usize = 6;
        let mut names: Vec<&str> = nodes.iter().filter_map(|node| self.names.get(*node)).map(String::as_str).collect();
        let more = names.len().saturating_sub(MOST);
        let more = (more > 1).then(|| {
            names.truncate(MOST);
            format!("{more} more")
        });
        names.extend(more.as_deref());
        match names.as_slice() {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        }
    }

    /// "a to b: 0 of 3 resumed, issued under 1f3a…".
    pub(crate) fn cite(&self, asked: Asked, (from, to): (usize, usize)) -> String {
        let (offered, resumed) = self.counts(asked, from, to);
        let name = self.nodes.get(from).and_then(|node| node.key_names.get(&asked)?.last());
        let name = name.map(|name| format!(", key {}", beginning(name))).unwrap_or_default();
        format!("Sessions of {}{name}, offered to {}: {resumed} of {offered} resumed", self.list(&[from]), self.list(&[to]))
    }
}

/// As much of a key's name as tells it apart.
pub(crate) fn beginning(name: &TicketKeyName) -> String {
    name.to_string().chars().take(8).collect::<String>() + "…"
}

impl Node {
    fn of(examination: &FleetExamination, place: usize) -> Self {
        let mut node = Self::default();
        let all: Vec<_> = examination.crossed.iter().filter(|it| it.to == place).collect();
        for asked in MECHANISMS.into_iter().filter(|asked| asked.kind == Kind::Ticket) {
            let seen = || all.iter().filter(|it| it.asked == asked).map(|it| &it.observation);
            let are_named = are_named(seen(), asked);
            node.key_names.insert(asked, seen().filter_map(key_name).filter(|_| are_named).unique().collect());
        }
        let mut tried: BTreeMap<Version, bool> = BTreeMap::new();
        for crossed in &all {
            let seen = &crossed.observation;
            match (seen.facts(), &crossed.fault) {
                (Some(facts), _) => {
                    tried.insert(facts.version, true);
                    node.suites.entry(facts.version).or_default().insert(facts.cipher);
                    if facts.kind == Kind::Full {
                        node.leaves.extend(facts.leaf);
                        let asks = facts.client_authentication != ClientAuthentication::NotRequested;
                        node.asks_for_certificate.insert(asks);
                    }
                }
                (None, fault) => {
                    let is_tls = fault.as_ref().is_some_and(|fault| fault.class == FailureClass::Tls);
                    if is_tls && crossed.from.is_none() {
                        tried.entry(crossed.asked.tls).or_insert(false);
                    }
                    if fault.as_ref().is_some_and(|fault| fault.class == FailureClass::Connect) {
                        node.was_away.push(seen.start);
                    }
                    node.failed += 1;
                    node.last_failure = seen.outcome.err();
                }
            }
        }
        node.refused = tried.into_iter().filter(|(_, is_spoken)| !is_spoken).map(|(version, _)| version).collect();
        node
    }

    /// Whether any handshake completed.
    pub(crate) fn is_reached(&self) -> bool {
        !self.suites.is_empty()
    }
}
