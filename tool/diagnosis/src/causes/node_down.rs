//! `node-down`: of several nodes behind one address one fails, and the others do not.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Remedy, Severity};
use reprise_probe::diagnose::Judgement;

use super::{Cause, JudgedRule, Rule, fix, node_protocol_differs};
use crate::figures::connections;
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    slug: "node-down",
    title: "One of several nodes or processes fails",
    happens: "\
A balancer hands connections to several nodes, and one of them does not answer, ends the handshake, or answers with an error
page, while the balancer takes it for healthy.",
    seen: "\
Some connections fail, with a session and without one, as often and in the order in which a node of several is chosen. An error
page counts as a failure where other connections are answered well. Connections that fail only where they offer a session are
`offer-breaks-connection`; those that fail after too many in a short time `rate-limited`. Of nodes that are diagnosed together, it is
certain for one with which no handshake completes, or none any more at the end, while others answer.",
    confirm: "\
Connect several times; those that end without a certificate went to that node:

```sh
for i in 1 2 3 4 5 6 7 8; do
  openssl s_client -connect HOST:443 < /dev/null 2> /dev/null | grep -c '^subject='
done
```",
    costs: "Of n nodes taken at random, one connection of n fails; clients that try again pay two.",
    advice: "Find the node in the balancer's log, and let the balancer test its nodes:",
    fixes: &[
        fix("HAProxy", "", "check check-ssl verify none on each server line of the backend: a plain check does not see a node that hangs. Where a node answers \
             with errors, option httpchk beside these three"),
        fix("nginx", "", "let no proxy_next_upstream off stand in the block of the balancer: its default tries another node"),
        fix("Envoy", "", "health_checks or outlier_detection in the cluster"),
    ],
    explained_by: &[&node_protocol_differs::CAUSE],
    separated_by: &["history"],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::NodeDown, |_| Severity::Fault, title)),
    fleet: Some(Rule { rank: 0, find: of_fleet }),
    ..Cause::BLANK
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
