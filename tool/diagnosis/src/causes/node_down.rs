//! `node-down`: of several nodes behind one address one fails, and the others do not.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Remedy, Severity};
use reprise_probe::diagnose::Judgement;

use super::{Cause, JudgedRule, Rule, node_protocol_differs};
use crate::figures::connections;
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    explained_by: &[&node_protocol_differs::CAUSE],
    separated_by: &["history"],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::NodeDown, |_| Severity::Fault, title)),
    fleet: Some(Rule { rank: 0, find: of_fleet }),
    ..page!("node-down")
};

/// No balancer tests the addresses of a name.
const OF_ADDRESSES: &str = "Let the server listen there and answer, or take the address out of DNS (its A or AAAA record): clients that take it \
                            first wait for it, and most do not try another once it has accepted a connection.";

/// How many nodes are cited.
const CITED: usize = 4;

/// Of nodes that are asked one by one, one is down where others are not; where all are, nothing is known of nodes.
fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let (nodes, up): (Vec<usize>, Vec<usize>) = (0..case.nodes.len()).partition(|node| case.is_down(*node));
    if nodes.is_empty() || up.is_empty() {
        return None;
    }
    let others = if case.are_addresses { "the other addresses of the name" } else { "the other nodes" };
    let title = match nodes.as_slice() {
        [one] => format!("{} is down, and {others} are not", case.list(&[*one])),
        nodes => format!("{} are down, and {others} are not", case.list(nodes)),
    };
    let cited = nodes.iter().take(CITED).filter_map(|place| {
        let node = case.nodes.get(*place)?;
        let when = if node.is_reached() { ", after others had completed" } else { "" };
        let of = connections(u64::from(node.failed));
        Some(format!("{}: {of} failed{when}: {}", case.list(&[*place]), node.last_failure?))
    });
    // One connection may fail by chance.
    let is_chance = |node: &usize| case.nodes.get(*node).is_some_and(|node| node.failed < 2);
    let confidence = if nodes.iter().any(is_chance) { Confidence::Likely } else { Confidence::Certain };
    let mut finding = CAUSE.finding(Severity::Fault, confidence, title).because(cited.collect::<Vec<_>>());
    if case.are_addresses {
        finding = finding.fixed_by(vec![Remedy::general(OF_ADDRESSES)]);
    }
    Some(FleetFinding { finding, nodes, reason: "down" })
}

fn title(judgement: &Judgement) -> String {
    match judgement.observations.iter().find(|seen| seen.is_unavailable()).and_then(|seen| seen.http_status) {
        Some(status) => {
            format!("Some connections are answered with HTTP {status}, as if by one of several nodes or processes")
        }
        None => "Some connections fail, as if one of several nodes or processes were down".to_owned(),
    }
}
