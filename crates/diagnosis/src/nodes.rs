//! Who refuses a session now and then: nodes behind one address, told apart by what was offered to whom, and when.

use std::collections::BTreeMap;

use reprise_model::{KeyName, Kind, Observation, Origin};

use crate::series::{Case, Series};

/// What tells refused sessions from accepted ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Tickets are sealed under so many keys at once, and one is accepted by the node that names the key in its own tickets.
    KeyNames(usize),
    /// Connections are dealt to so many nodes in turn: a session is accepted exactly where their number divides its distance.
    InTurn(u32),
    /// Sessions of these origins are accepted, others are not.
    ByOrigin(Accepted),
    /// Nothing that was seen.
    Unknown,
}

/// Whose sessions are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// All of a full handshake.
    OfFull,
    /// The last of each connection.
    Last,
    /// The last of a full handshake.
    LastOfFull,
}

impl Accepted {
    const ALL: [Self; 3] = [Self::OfFull, Self::Last, Self::LastOfFull];

    fn accepts(self, origin: Origin) -> bool {
        let (is_of_full, is_last) = (!origin.was_resumed, origin.is_last);
        match self {
            Self::OfFull => is_of_full,
            Self::Last => is_last,
            Self::LastOfFull => is_of_full && is_last,
        }
    }
}

/// The most nodes that are looked for. Of more, a hundred connections show nothing.
const MOST_NODES: u32 = 32;

/// Chance alone brings about what is concluded here less often than this.
const CHANCE: f64 = 1e-4;

/// What tells the refused connections of this series from the accepted ones.
pub(crate) fn sharing(case: &Case<'_>, series: &Series<'_>) -> Sharing {
    let offers = offers(series);
    let named = key_names(case, series).filter(|_| series.asked.kind != Kind::Id);
    let accepted = Accepted::ALL.into_iter().find(|it| splits(&offers, |offer| it.accepts(offer.origin)));
    let turns: Vec<u32> = (2..=MOST_NODES).filter(|nodes| is_in_turn(&offers, *nodes)).collect();
    match (named, turns.as_slice(), accepted) {
        (Some(keys), _, _) => Sharing::KeyNames(keys),
        (None, [nodes], None) => Sharing::InTurn(*nodes),
        (None, [], Some(accepted)) => Sharing::ByOrigin(accepted),
        _ => Sharing::Unknown,
    }
}

/// Acceptance by distance: "at distance 1: 0 of 31; 2: 24 of 24; 3: 0 of 12". `None` where no distance is known.
pub(crate) fn by_distance(series: &Series<'_>) -> Option<String> {
    const SHOWN: u32 = 8;
    let mut counts: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for offer in offers(series) {
        let (accepted, all) = counts.entry(offer.distance.min(SHOWN + 1)).or_default();
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

/// The fewest nodes that, taken in turn, would have refused everything that was refused here: no distance is a multiple of
/// their number. `None` where every number of nodes would have accepted something.
pub(crate) fn nodes_that_refuse_all(series: &Series<'_>) -> Option<u32> {
    let offers = offers(series);
    let refuses_all = |nodes: &u32| offers.iter().all(|offer| offer.distance % nodes != 0);
    (2..=MOST_NODES / 4).find(refuses_all).filter(|_| !offers.is_empty())
}

/// One session that was offered, of those that a connection of this process gave.
struct Offer {
    distance: u32,
    origin: Origin,
    is_accepted: bool,
}

fn offers(series: &Series<'_>) -> Vec<Offer> {
    let offer = |seen: &Observation| {
        let offered = seen.offered.filter(|_| seen.facts().is_some_and(|facts| facts.session_offered))?;
        Some(Offer { distance: seen.distance()?, origin: offered.origin?, is_accepted: !seen.is_refusal() })
    };
    series.completed.iter().filter_map(|(seen, _)| offer(seen)).collect()
}

fn is_in_turn(offers: &[Offer], nodes: u32) -> bool {
    splits(offers, |offer| offer.distance % nodes == 0)
}

/// Whether this holds of every offer that was accepted and of no other, so often that it is not by chance.
fn splits(offers: &[Offer], holds: impl Fn(&Offer) -> bool) -> bool {
    if !offers.iter().all(|offer| holds(offer) == offer.is_accepted) {
        return false;
    }
    let all = offers.len() as f64;
    let accepted = offers.iter().filter(|offer| offer.is_accepted).count() as f64;
    let refused = all - accepted;
    accepted > 0.0
        && refused > 0.0
        && (accepted / all).powf(accepted) * (refused / all).powf(refused) < CHANCE / f64::from(MOST_NODES)
}

/// Under how many keys at once tickets come, where each ticket was accepted exactly by the node that names its key: `None` where
/// that does not hold, and where tickets do not name their keys. A node that changes its key in between is still one.
fn key_names(case: &Case<'_>, series: &Series<'_>) -> Option<usize> {
    let mut spans: BTreeMap<KeyName, (u32, u32, u32)> = BTreeMap::new();
    let (mut tickets, mut agreeing) = (0, 0_u32);
    let of_version = case.observations.iter().filter(|seen| seen.asked.tls == series.asked.tls);
    for (seen, facts) in of_version.filter_map(|seen| Some((seen, seen.facts()?))) {
        for ticket in facts.tickets.iter() {
            let (_, last, count) = spans.entry(ticket.key_name).or_insert((seen.index, seen.index, 0));
            (*last, *count) = ((*last).max(seen.index), *count + 1);
            tickets += 1;
        }
        let offered = seen.offered.and_then(|offered| offered.key_name).filter(|_| facts.session_offered);
        if let (Some(offered), Some(given)) = (offered, facts.tickets.iter().next()) {
            if (offered == given.key_name) == seen.is_refusal() {
                return None;
            }
            agreeing += 1;
        }
    }
    let keys =
        spans.values().map(|(first, ..)| spans.values().filter(|(begin, end, _)| begin <= first && first <= end).count());
    let keys = keys.max().filter(|keys| *keys > 1)?;
    // Random names, as of Go's servers, come once each. And so many tickets would have shown one key more.
    let unseen = (keys as f64 / (keys as f64 + 1.0)).powi(tickets);
    let is_named = spans.values().all(|(_, _, count)| *count > 1) && agreeing > 1;
    (is_named && unseen < CHANCE).then_some(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    /// Tickets of which each is offered so many connections later, and accepted where `accepts` says so of its distance and of
    /// whether it came from a resumed connection.
    fn seen(distances: &[u32], accepts: impl Fn(u32, bool) -> bool) -> Sharing {
        let mut distances = distances.iter().copied().cycle();
        let mut nth = 0;
        let example = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300).all(|it| {
            if it.asked.kind == Kind::Full {
                return;
            }
            nth += 1;
            let (distance, was_resumed) = (distances.next().unwrap(), nth % 3 == 0);
            let offered = it.offered.as_mut().unwrap();
            it.index = 10_000 + nth;
            offered.origin = Some(Origin { index: it.index - distance, was_resumed, is_last: true });
            let kind = if accepts(distance, was_resumed) { Kind::Ticket } else { Kind::Full };
            it.outcome.as_mut().unwrap().kind = kind;
        });
        let case = example.case();
        let series = case.conclusive_series();
        sharing(&case, series.iter().find(|series| series.asked.kind == Kind::Ticket).unwrap())
    }

    #[test]
    fn multiples_of_three_are_three_nodes() {
        assert_eq!(seen(&[1, 2, 3, 4, 6, 5], |distance, _| distance % 3 == 0), Sharing::InTurn(3));
    }

    #[test]
    fn two_numbers_that_fit_alike_leave_it_open() {
        assert_eq!(seen(&[1, 4, 3, 8], |distance, _| distance % 4 == 0), Sharing::Unknown);
        assert_eq!(seen(&[1, 4, 2, 8], |distance, _| distance % 4 == 0), Sharing::InTurn(4));
    }

    #[test]
    fn one_exception_is_enough() {
        assert_eq!(seen(&[1, 2, 3, 4, 6, 5], |distance, _| distance % 3 == 0 || distance == 5), Sharing::Unknown);
    }

    #[test]
    fn tickets_of_resumed_connections_may_be_refused_alone() {
        assert_eq!(seen(&[1, 2, 3, 4], |_, was_resumed| !was_resumed), Sharing::ByOrigin(Accepted::OfFull));
    }

    /// What another process saved has no distance; the rest keeps its own.
    #[test]
    fn one_session_of_another_process_hides_no_distance() {
        let mut nth = 0;
        let example = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300).all(|it| {
            nth += 1;
            it.index = 10_000 + nth;
            let origin = Origin { index: it.index - 2, was_resumed: false, is_last: true };
            it.offered.as_mut().unwrap().origin = (nth > 1).then_some(origin);
        });
        let (case, all_refused) = (example.case(), Example::new().refused("1.3", Kind::Ticket, 10));
        assert!(by_distance(&case.conclusive_series()[1]).unwrap().ends_with("2: 99 of 99"));
        assert_eq!(nodes_that_refuse_all(&all_refused.case().conclusive_series()[0]), None, "nothing is known of distances");
    }
}
