//! What the judge makes of connections: of those that it chose itself, and of those that were made for another purpose, a
//! measurement, a load.

use std::collections::{BTreeMap, HashMap};

use reprise_judge::{
    Attempt, Cause as Concluded, Conclusion, Confidence as Sureness, Judge, Offered, Outcome, Seen, Variation,
};
use reprise_model::document::{Confidence, Finding};
use reprise_model::{Asked, KeyName, Kind, Observation};
use reprise_probe::diagnose::{Judgement, NEVER_ACCEPTED, names};

use crate::causes::{causes, resumed_ticket_refused};
use crate::figures::connections;
use crate::series::{Case, Series};

/// So many connections are weighed. More say no more of nodes, and cost more.
const MOST: usize = 200;

/// What it makes of these connections, of which it chose none, in the order in which they were begun. Those of other versions and
/// kinds offer nothing here, and count all the same: they take turns too.
pub(crate) fn judgement(observations: &[Observation], asked: Asked) -> Judgement {
    let seen: Vec<&Observation> = relevant(observations).take(MOST).collect();
    let judge = weighed(&seen, asked);
    let [unknown, never_accepted] = [judge.odds(&[Concluded::Unknown]), judge.odds(&NEVER_ACCEPTED)];
    // What one connection in twenty would show by chance is told where somebody looked for it.
    let is_told = |it: &Conclusion| it.confidence > Sureness::Possible || it.cause == Concluded::NotShared;
    let conclusions = judge.conclusions().into_iter().filter(is_told).collect();
    let observations = seen.into_iter().copied().collect();
    Judgement { asked, conclusions, unknown, never_accepted, nodes_in_turn: judge.nodes_in_turn(), observations }
}

/// What is known of a connection whose session may be offered.
struct Known {
    connection: usize,
    /// How many sessions had been given by then.
    given: usize,
    depth: usize,
    used: usize,
}

fn weighed(observations: &[&Observation], asked: Asked) -> Judge {
    let mut judge = Judge::new();
    let has_names = names(observations.iter().copied().filter(|seen| seen.asked.tls == asked.tls), asked);
    let mut numbers: HashMap<KeyName, u32> = HashMap::new();
    let mut known: HashMap<u32, Known> = HashMap::new();
    let mut before: Option<f64> = None;
    let mut given = 0;
    for (connection, seen) in observations.iter().enumerate() {
        let at = seen.start.0 as f64 / 1e9;
        let gap = before.map_or(0.0, |before| (at - before).max(0.0));
        before = Some(at);
        let offered = offered(seen, asked, &known, given);
        let outcome = match seen.facts() {
            None => Outcome::Failed,
            Some(facts) if offered.is_some() && facts.kind != Kind::Full => Outcome::Resumed,
            Some(_) => Outcome::Full,
        };
        let count = numbers.len() as u32;
        let name = name(seen).filter(|_| has_names && seen.asked.tls == asked.tls);
        let key = name.map(|name| *numbers.entry(name).or_insert(count));
        let attempt = Attempt { connection, at, gap, offered, variation: Variation::Plain };
        judge.observe(&attempt, &Seen { outcome, key });
        let is_resumed = outcome == Outcome::Resumed;
        if let Some(origin) = seen.offered.and_then(|it| it.origin).and_then(|origin| known.get_mut(&origin.index)) {
            origin.used += usize::from(is_resumed);
        }
        let depth = offered.filter(|_| is_resumed).map_or(0, |it| it.depth + 1);
        if outcome != Outcome::Failed && seen.asked.tls == asked.tls {
            given += seen.facts().map_or(0, |facts| match asked.kind {
                Kind::Id => usize::from(facts.kind == Kind::Full),
                _ => facts.tickets.count as usize,
            });
            known.insert(seen.index, Known { connection, given, depth, used: 0 });
        }
    }
    judge
}

/// Those that reached the server, to its first address, in the order in which they were begun.
fn relevant(observations: &[Observation]) -> impl Iterator<Item = &Observation> {
    let server = observations.iter().find_map(|seen| seen.server);
    let is_relevant = move |seen: &&Observation| {
        let has_failed_here = seen.outcome.is_err_and(|name| !name.is_the_targets());
        seen.server == server && !has_failed_here
    };
    let mut relevant: Vec<&Observation> = observations.iter().filter(is_relevant).collect();
    relevant.sort_by_key(|seen| seen.index);
    relevant.into_iter()
}

fn offered(seen: &Observation, asked: Asked, known: &HashMap<u32, Known>, given: usize) -> Option<Offered> {
    // Of a resumption that ends in an error page nothing is concluded.
    let is_offered = seen.is_answered_well() && seen.facts().is_none_or(|facts| facts.session_offered);
    let offered = seen.offered.filter(|it| is_offered && seen.asked.tls == asked.tls && it.kind == asked.kind)?;
    let origin = known.get(&offered.origin?.index)?;
    Some(Offered {
        from: origin.connection,
        age: offered.age.0 as f64 / 1e9,
        others: given.saturating_sub(origin.given),
        used: origin.used,
        depth: origin.depth,
    })
}

fn name(seen: &Observation) -> Option<KeyName> {
    Some(seen.facts()?.tickets.iter().next()?.key_name)
}

/// What its conclusions are, as findings: of each mechanism whose sessions were offered, and not always accepted.
pub(crate) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let series = case.conclusive_series();
    let mechanisms = series.iter().filter(|it| matches!(it.asked.kind, Kind::Ticket | Kind::Id));
    let mut found: Vec<Finding> = Vec::new();
    for finding in mechanisms.flat_map(|mechanism| of_mechanism(case, mechanism)) {
        // A node that is down is down for every mechanism.
        match found.iter_mut().find(|other| (&other.id, &other.title) == (&finding.id, &finding.title)) {
            Some(other) if finding.confidence < other.confidence => *other = finding,
            Some(_) => {}
            None => found.push(finding),
        }
    }
    found
}

fn of_mechanism(case: &Case<'_>, series: &Series<'_>) -> Vec<Finding> {
    let is_examined = case.judgements.iter().any(|judgement| judgement.asked == series.asked);
    // Where a ticket came from says more than what the judge makes of it.
    if !is_examined && series.refusals() == 0 || resumed_ticket_refused::is_shown(series) {
        return Vec::new();
    }
    let judgement = case.judgement(series.asked);
    let rules = || causes().filter_map(|cause| Some((cause, cause.judged?.find)));
    let rules = || rules().filter(|(_, rule)| rule.kinds.contains(&series.asked.kind));
    let found: Vec<Finding> = rules()
        .filter_map(|(cause, rule)| {
            let conclusion = judgement.of(rule.concludes)?;
            let severity = (rule.severity)(series.asked);
            let finding = case.found(cause, severity, confidence(conclusion), (rule.title)(&judgement));
            Some(finding.because(evidence(&judgement, Some(conclusion))))
        })
        .collect();
    let is_accepted_sometimes = [true, false].iter().all(|wanted| offers(&judgement).any(|it| it.is_accepted == *wanted));
    let unexplained = (found.is_empty() && is_accepted_sometimes)
        .then(|| rules().find(|(_, rule)| rule.concludes == Concluded::NotShared))
        .flatten()
        .map(|(cause, rule)| {
            let severity = (rule.severity)(series.asked);
            let finding = case.found(cause, severity, Confidence::Possible, (rule.title)(&judgement));
            finding.because(evidence(&judgement, None))
        });
    let priced = |finding: Finding| {
        let refused = offers(&judgement).filter(|offer| !offer.is_accepted).count();
        let is_of_refusals = refused > 0;
        let cost = case.average_cost(series).filter(|_| is_of_refusals);
        finding.costing(cost).costing_cpu(case.cpu_cost(series.asked.tls).filter(|_| is_of_refusals))
    };
    found.into_iter().chain(unexplained).map(priced).collect()
}

/// As documents have it.
fn confidence(conclusion: &Conclusion) -> Confidence {
    match conclusion.confidence {
        Sureness::Certain => Confidence::Certain,
        Sureness::Likely => Confidence::Likely,
        Sureness::Possible => Confidence::Possible,
    }
}

/// A session that was offered, and what became of it.
struct Offer {
    /// `None` where another process gave it.
    distance: Option<u32>,
    age_s: f64,
    is_accepted: bool,
}

fn offers(judgement: &Judgement) -> impl Iterator<Item = Offer> {
    let offer = |seen: &Observation| {
        let offered = seen.offered.filter(|it| it.kind == judgement.asked.kind && seen.asked.tls == judgement.asked.tls)?;
        let is_accepted = seen.facts().filter(|facts| facts.session_offered)?.kind != Kind::Full;
        Some(Offer { distance: seen.distance(), age_s: offered.age.0 as f64 / 1e9, is_accepted })
    };
    judgement.observations.iter().filter_map(offer)
}

/// What shows the conclusion; `None` where nothing that the judge knows explains the refusals.
fn evidence(judgement: &Judgement, conclusion: Option<&Conclusion>) -> Vec<String> {
    let offers: Vec<Offer> = offers(judgement).collect();
    let accepted = offers.iter().filter(|offer| offer.is_accepted).count();
    let counted = format!("{accepted} of {} that offered one resumed", connections(offers.len() as u64));
    let failed = judgement.observations.iter().filter(|seen| seen.facts().is_none()).count();
    let failed = (failed > 0).then(|| format!("{failed} of {} failed", connections(judgement.observations.len() as u64)));
    let shown = match conclusion.map(|it| it.cause) {
        None | Some(Concluded::NotShared) => by_distance(&offers),
        Some(Concluded::Lifetime | Concluded::RefusedYoung | Concluded::Restart | Concluded::Rotation) => by_age(&offers),
        Some(_) => None,
    };
    let turns = conclusion.filter(|it| it.cause == Concluded::NotShared).and(judgement.nodes_in_turn);
    let turns = turns.map(|nodes| format!("{nodes} nodes taken in turn, each with its own state, explain all of it"));
    let likelihood = conclusion.map_or_else(|| NOTHING_KNOWN.to_owned(), |it| odds(judgement, it));
    let is_open = conclusion.is_some_and(|it| it.confidence < Sureness::Certain);
    let others = judgement.conclusions.iter().filter(|other| conclusion.is_some_and(|it| it.cause != other.cause));
    let others: Vec<&str> = others.map(|other| other.cause.slug()).collect();
    let others = (is_open && !others.is_empty()).then(|| format!("Also possible, or beside it: {}", others.join(", ")));
    [Some(counted), failed, shown, turns, key_names(judgement), Some(likelihood), others].into_iter().flatten().collect()
}

const NOTHING_KNOWN: &str = "Nothing that is known explains it 20 times better than anything else: nodes that do not share keys or a cache, keys that \
        change, a limit of time or number";

/// "Over 41 connections its presence is 2300 times likelier than its absence".
fn odds(judgement: &Judgement, conclusion: &Conclusion) -> String {
    let all = connections(judgement.observations.len() as u64);
    match conclusion.odds {
        odds if odds >= 10_000.0 => format!("Over {all} its presence is more than 10,000 times likelier than its absence"),
        odds if odds < 2.0 => format!("Over {all} its presence is as likely as its absence"),
        odds => format!("Over {all} its presence is {odds:.0} times likelier than its absence"),
    }
}

/// Acceptance by distance: "at distance 1: 0 of 31; 2: 24 of 24; 3: 0 of 12". `None` where no distance is known.
fn by_distance(offers: &[Offer]) -> Option<String> {
    const SHOWN: u32 = 8;
    let mut counts: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for (offer, distance) in offers.iter().filter_map(|offer| Some((offer, offer.distance?))) {
        let (accepted, all) = counts.entry(distance.min(SHOWN + 1)).or_default();
        *accepted += u32::from(offer.is_accepted);
        *all += 1;
    }
    let one = |(distance, (accepted, all)): (&u32, &(u32, u32))| match *distance {
        distance if distance > SHOWN => format!("over {SHOWN}: {accepted} of {all}"),
        distance => format!("{distance}: {accepted} of {all}"),
    };
    let each: Vec<String> = counts.iter().map(one).collect();
    (!each.is_empty())
        .then(|| format!("Accepted by distance, in connections since the one that gave it: {}", each.join(", ")))
}

/// "Accepted up to 2.10 s old, refused from 3.02 s".
fn by_age(offers: &[Offer]) -> Option<String> {
    let oldest = |is_accepted| {
        let ages = offers.iter().filter(move |offer| offer.is_accepted == is_accepted).map(|offer| offer.age_s);
        (ages.clone().fold(f64::INFINITY, f64::min), ages.fold(f64::NEG_INFINITY, f64::max))
    };
    let ((young_accepted, old_accepted), (young_refused, old_refused)) = (oldest(true), oldest(false));
    (young_accepted.is_finite() && young_refused.is_finite()).then(|| {
        format!(
            "Accepted between {young_accepted:.2} s and {old_accepted:.2} s after they were given, refused between \
             {young_refused:.2} s and {old_refused:.2} s"
        )
    })
}

/// The youngest age at which a session was refused, in seconds.
pub(crate) fn refused_from(judgement: &Judgement) -> f64 {
    offers(judgement).filter(|offer| !offer.is_accepted).map(|offer| offer.age_s).fold(f64::INFINITY, f64::min)
}

/// "Tickets come under 2 key names: 0c1f… (12 times), 90ab… (11 times)", where they name keys.
fn key_names(judgement: &Judgement) -> Option<String> {
    let of_version = || judgement.observations.iter().filter(|seen| seen.asked.tls == judgement.asked.tls);
    if !names(of_version(), judgement.asked) {
        return None;
    }
    let mut counts: BTreeMap<KeyName, u32> = BTreeMap::new();
    of_version().filter_map(name).for_each(|name| *counts.entry(name).or_default() += 1);
    let named: Vec<String> = counts.iter().take(4).map(|(name, count)| format!("{name} ({count} times)")).collect();
    let (keys, tickets) = (counts.len(), counts.values().sum::<u32>());
    let others = if keys > named.len() { " and others" } else { "" };
    // So many tickets would have shown one key more.
    let unseen = (keys as f64 / (keys as f64 + 1.0)).powf(f64::from(tickets));
    let is_all = unseen < CHANCE && counts.values().all(|count| *count > 1) && judgement.of(Concluded::NotShared).is_some();
    let nodes = if is_all { format!(": {keys} nodes or processes") } else { String::new() };
    (keys > 1).then(|| format!("Tickets come under {keys} key names, {}{others}{nodes}", named.join(", ")))
}

/// Chance alone hides a key less often than this.
const CHANCE: f64 = 1e-4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use reprise_model::{Origin, Version};

    const TICKET: Asked = Asked { tls: Version::Tls13, kind: Kind::Ticket };

    /// A hundred tickets, each of so many connections before, that are accepted where `accepts` says so of connection and distance.
    fn judged(distances: &[u32], accepts: impl Fn(u32, u32) -> bool) -> Judgement {
        let mut distances = distances.iter().copied().cycle();
        let example = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300).all(|it| {
            if it.asked.kind != Kind::Ticket {
                return;
            }
            let distance = distances.next().unwrap();
            let offered = it.offered.as_mut().unwrap();
            offered.origin = Some(Origin { index: it.index - distance, was_resumed: false, is_last: true });
            let kind = if accepts(it.index, distance) { Kind::Ticket } else { Kind::Full };
            it.outcome.as_mut().unwrap().kind = kind;
        });
        judgement(example.case().observations, TICKET)
    }

    fn of_nodes(judged: &Judgement) -> Option<Sureness> {
        judged.of(Concluded::NotShared).map(|it| it.confidence)
    }

    fn of_refusal(judged: &Judgement) -> Option<Sureness> {
        (judged.never_accepted >= 20.0).then_some(Sureness::Likely)
    }

    #[test]
    fn nodes_in_turn_are_likely() {
        assert_eq!(of_nodes(&judged(&[1, 2, 3, 4, 6], |_, distance| distance % 3 == 0)), Some(Sureness::Likely));
    }

    #[test]
    fn nodes_by_chance_are_likely() {
        // Which of two nodes a connection reached, by a multiplicative hash of its number.
        let node = |index: u32| index.wrapping_mul(2_654_435_761) >> 31;
        let judged = judged(&[1, 2, 3, 5], |index, distance| node(index) == node(index - distance));
        assert_eq!(of_nodes(&judged), Some(Sureness::Likely));
    }

    #[test]
    fn keys_that_changed_once_are_no_nodes() {
        let judged = judged(&[1, 2, 3, 12], |index, distance| (index < 150) == (index - distance < 150));
        assert_ne!(of_nodes(&judged), Some(Sureness::Likely));
    }

    #[test]
    fn what_is_refused_at_every_distance_is_never_accepted() {
        let judged = judged(&[1, 2, 4, 3, 6, 5, 8, 7, 9, 1, 3], |_, _| false);
        assert_eq!(of_refusal(&judged), Some(Sureness::Likely));
    }

    /// So do two nodes in turn.
    #[test]
    fn what_is_refused_at_one_distance_may_be_nodes() {
        assert_ne!(of_refusal(&judged(&[1], |_, _| false)), Some(Sureness::Likely));
    }
}
