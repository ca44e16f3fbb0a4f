//! `ticket-key-per-node`: nodes refuse each other's tickets and accept their own.

use std::collections::BTreeSet;

use reprise_model::Kind;
use reprise_model::document::{Confidence, Severity};
use reprise_probe::fleet::MECHANISMS;

use super::{Cause, Rule};
use crate::diagnose::examined::mechanism;
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["resume"],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    fleet: Some(Rule { rank: 1, find: of_fleet }),
    ..page!("ticket-key-per-node")
};

/// How many refusals are cited.
const CITED: usize = 4;

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let mechanisms = MECHANISMS.into_iter().filter(|asked| asked.kind == Kind::Ticket);
    // One finding tells of all versions: a key serves them all.
    let found = mechanisms.filter_map(|asked| {
        let parted = case.parted_pairs(asked);
        // Under one key it is something else that is refused.
        let by_key = |(one, other): &&(usize, usize)| case.keys_differ(asked, *one, *other) != Some(false);
        let pairs: Vec<(usize, usize)> = parted.iter().filter(by_key).copied().collect();
        let are_named = pairs.iter().all(|(one, other)| case.keys_differ(asked, *one, *other) == Some(true));
        let groups = case.groups(asked);
        let apart: BTreeSet<usize> = pairs.iter().flat_map(|(one, other)| [*one, *other]).collect();
        let of_largest = groups.first().filter(|group| group.len() > 1).cloned().unwrap_or_default();
        // A node that refuses the largest group's tickets for something else has their key.
        let has_their_key =
            |node: usize| of_largest.iter().any(|other| case.keys_differ(asked, node, *other) == Some(false));
        let nodes: Vec<usize> =
            apart.into_iter().filter(|node| !of_largest.contains(node) && !has_their_key(*node)).collect();
        (!pairs.is_empty()).then_some((asked, pairs, nodes, are_named))
    });
    let (asked, pairs, nodes, are_named) = found.max_by_key(|(_, pairs, _, are_named)| (*are_named, pairs.len()))?;
    let of_none = nodes.len() == case.nodes.len();
    let confidence = match (case.is_one_name, are_named) {
        (true, true) => Confidence::Certain,
        (true, false) if !case.is_explained_otherwise(asked, &pairs) => Confidence::Likely,
        _ => Confidence::Possible,
    };
    let title = match nodes.as_slice() {
        [one] => {
            format!("{} has a ticket key of its own: others refuse its tickets, and it refuses theirs", case.list(&[*one]))
        }
        nodes if of_none => format!("{} have a ticket key each, and refuse each other's tickets", case.list(nodes)),
        nodes => format!("{} do not have the ticket key of the others, which refuse their tickets", case.list(nodes)),
    };
    let cited = pairs.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]);
    let cited = cited.filter(|(from, to)| !case.offers(asked, *from, *to).is_empty()).take(CITED);
    let under =
        format!("By {}: {} refuse each other's sessions and accept their own", mechanism(asked), of_pairs(pairs.len()));
    let evidence = std::iter::once(under).chain(cited.map(|pair| case.cite(asked, pair)));
    let finding = CAUSE.finding(Severity::Fault, confidence, title).because(evidence);
    Some(FleetFinding { finding, nodes, reason: "another ticket key" })
}

fn of_pairs(count: usize) -> String {
    if count == 1 { "one pair of nodes".to_owned() } else { format!("{count} pairs of nodes") }
}
