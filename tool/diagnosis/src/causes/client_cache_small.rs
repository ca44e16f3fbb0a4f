//! `client-cache-small`: with several names the client remembers too few of them.

use itertools::Itertools;
use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, Rule};
use crate::client::case::{Chance, ClientCase, first_lines, is_one_client, named};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Likely, Confidence::Possible],
    watched: Some(Rule { rank: 7, find: of_client }),
    ..page!("client-cache-small")
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    // How many other names were asked for since the session's own.
    let between = |chance: &Chance<'_>| others_since(case, chance);
    let missed: Vec<(&Chance<'_>, usize)> =
        case.misses().map(|chance| (chance, between(chance))).filter(|(_, others)| *others > 0).collect();
    let fewest_missed = missed.iter().map(|(_, others)| *others).min()?;
    let kept = case.chances().iter().filter(|chance| !chance.offer.sessions.is_empty()).map(between);
    let most_kept = kept.max();
    // A name that is remembered over more others than one that is forgotten: something else is at work.
    if most_kept.is_some_and(|most| most >= fewest_missed) {
        return None;
    }
    // Forgetting the name that was asked for last is no lack of room.
    if case.misses().any(|chance| between(chance) == 0 && case.open_beside(chance) == 0) {
        return None;
    }
    let confidence = if most_kept.is_some() { Confidence::Likely } else { Confidence::Possible };
    let severity = if most_kept.is_some() { Severity::Fault } else { Severity::Risk };
    let title = match fewest_missed {
        1 => "The client remembers the sessions of only one name".to_owned(),
        names => format!("The client remembers the sessions of at most {names} names"),
    };
    let line = |(chance, others): &(&Chance<'_>, usize)| {
        let from = chance.latest().map_or_else(String::new, named);
        let names = if *others == 1 { "1 other name".to_owned() } else { format!("{others} other names") };
        format!("{}: no session offered after {names} since {from}", named(chance.connection))
    };
    let mut evidence = first_lines(missed.iter().map(line));
    evidence.extend(most_kept.map(|most| format!("A session was offered after {most} other names at most")));
    Some(case.found(&CAUSE, severity, confidence, title, evidence))
}

fn others_since(case: &ClientCase<'_>, chance: &Chance<'_>) -> usize {
    let Some(latest) = chance.latest() else { return 0 };
    case.offers()
        .filter(|(it, _)| it.number > latest.number && is_one_client(it, chance.connection))
        .map(|(_, offer)| offer.sni.as_deref())
        .filter(|name| *name != chance.offer.sni.as_deref())
        .unique()
        .count()
}
