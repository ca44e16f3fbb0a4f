//! What the judge makes of connections that were made for another purpose: a measurement, a load.

use std::collections::HashMap;

use reprise_judge::{
    Conclusion, ConnectionOutcome, Judge, JudgedCause as Concluded, JudgedConnection, OfferVariation, OfferedSession,
    PriorOffers, SeenConnection,
};
use reprise_model::document::Confidence;
use reprise_model::{Asked, Kind, Observation};
use reprise_probe::diagnose::{Judgement, NodeNames};

/// So many connections are weighed. More say no more of nodes, and cost more.
const MOST: usize = 200;

/// What the judge makes of these connections, of which it chose none, in the order in which they were begun. Those of other versions and
/// kinds offer nothing here, and count all the same: they take turns too.
pub(crate) fn judgement(observations: &[Observation], asked: Asked) -> Judgement {
    let seen: Vec<&Observation> = relevant(observations).take(MOST).collect();
    let judge = weighed(&seen, asked);
    // What one connection in twenty would show by chance is told where somebody looked for it.
    let is_told = |it: &Conclusion| it.confidence != Confidence::Possible || it.cause == Concluded::NotShared;
    let conclusions = judge.conclusions().into_iter().filter(is_told).collect();
    Judgement::new(asked, &judge, conclusions, seen.into_iter().copied().collect())
}

/// What is known of a connection whose session may be offered.
struct Known {
    connection: usize,
    /// How many sessions had been given by then.
    given: usize,
    depth: usize,
    used: usize,
    earlier: PriorOffers,
}

fn weighed(observations: &[&Observation], asked: Asked) -> Judge {
    let mut judge = Judge::new();
    let names = NodeNames::of(observations.iter().copied().filter(|seen| seen.asked.tls == asked.tls), asked);
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut known: HashMap<u32, Known> = HashMap::new();
    let mut before: Option<f64> = None;
    let mut given = 0;
    for (connection, seen) in observations.iter().enumerate() {
        let at = seen.start.0 as f64 / 1e9;
        let gap = before.map_or(0.0, |before| (at - before).max(0.0));
        before = Some(at);
        let offered = offered(seen, asked, &known, given);
        let outcome = match seen.facts() {
            None if seen.is_broken_resumption() => ConnectionOutcome::Broken,
            None => ConnectionOutcome::Failed,
            Some(facts) if offered.is_some() && facts.kind != Kind::Full => ConnectionOutcome::Resumed,
            Some(_) => ConnectionOutcome::Full,
        };
        let count = numbers.len() as u32;
        let name = names.of_node(seen).filter(|_| seen.asked.tls == asked.tls);
        let key = name.map(|name| *numbers.entry(name).or_insert(count));
        let attempt = JudgedConnection { connection, at, gap, offered, variation: OfferVariation::Plain };
        judge.observe(&attempt, &SeenConnection { outcome, key });
        let is_resumed = outcome == ConnectionOutcome::Resumed;
        if let Some(origin) = seen.offered.and_then(|it| it.origin).and_then(|origin| known.get_mut(&origin.index)) {
            origin.used += usize::from(is_resumed);
            origin.earlier.note(&attempt, outcome);
        }
        let depth = offered.filter(|_| is_resumed).map_or(0, |it| it.depth + 1);
        if !outcome.is_failure() && seen.asked.tls == asked.tls {
            given += seen.facts().map_or(0, |facts| match asked.kind {
                Kind::Id => usize::from(facts.kind == Kind::Full),
                _ => facts.tickets.count as usize,
            });
            known.insert(seen.index, Known { connection, given, depth, used: 0, earlier: PriorOffers::default() });
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

fn offered(seen: &Observation, asked: Asked, known: &HashMap<u32, Known>, given: usize) -> Option<OfferedSession> {
    // Of a resumption that ends in an error page nothing is concluded.
    let is_offered = seen.is_answered_well() && seen.facts().is_none_or(|facts| facts.session_offered);
    let offered = seen.offered.filter(|it| is_offered && seen.asked.tls == asked.tls && it.kind == asked.kind)?;
    let origin = known.get(&offered.origin?.index)?;
    Some(OfferedSession {
        from: origin.connection,
        age: offered.age.0 as f64 / 1e9,
        others: given.saturating_sub(origin.given),
        used: origin.used,
        depth: origin.depth,
        earlier: origin.earlier,
    })
}

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

    fn of_nodes(judged: &Judgement) -> Option<Confidence> {
        judged.of(Concluded::NotShared).map(|it| it.confidence)
    }

    fn of_refusal(judged: &Judgement) -> Option<Confidence> {
        (judged.never_accepted >= 20.0).then_some(Confidence::Likely)
    }

    #[test]
    fn nodes_in_turn_are_likely() {
        assert_eq!(of_nodes(&judged(&[1, 2, 3, 4, 6], |_, distance| distance % 3 == 0)), Some(Confidence::Likely));
    }

    #[test]
    fn nodes_by_chance_are_likely() {
        // Which of two nodes a connection reached, by a multiplicative hash of its number.
        let node = |index: u32| index.wrapping_mul(2_654_435_761) >> 31;
        let judged = judged(&[1, 2, 3, 5], |index, distance| node(index) == node(index - distance));
        assert_eq!(of_nodes(&judged), Some(Confidence::Likely));
    }

    #[test]
    fn keys_that_changed_once_are_no_nodes() {
        let judged = judged(&[1, 2, 3, 12], |index, distance| (index < 150) == (index - distance < 150));
        assert_ne!(of_nodes(&judged), Some(Confidence::Likely));
    }

    #[test]
    fn what_is_refused_at_every_distance_is_never_accepted() {
        let judged = judged(&[1, 2, 4, 3, 6, 5, 8, 7, 9, 1, 3], |_, _| false);
        assert_eq!(of_refusal(&judged), Some(Confidence::Likely));
    }

    /// So do two nodes in turn.
    #[test]
    fn what_is_refused_at_one_distance_may_be_nodes() {
        assert_ne!(of_refusal(&judged(&[1], |_, _| false)), Some(Confidence::Likely));
    }
}
