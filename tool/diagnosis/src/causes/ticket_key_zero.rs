//! `ticket-key-zero`: tickets are authenticated with a key of zero bytes, which everyone has.

use reprise_model::Observation;
use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, MeasuredRule, Rule};
use crate::fleet::{FleetCase, FleetFinding};
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault],
    confidences: &[Confidence::Certain],
    security_severity: Some("9.1"),
    measured: Some(Rule { rank: 28, find: MeasuredRule::Once(of_measurement) }),
    fleet: Some(Rule { rank: 12, find: of_fleet }),
    ..page!("ticket-key-zero")
};

const TITLE: &str = "The tags of tickets are made with a key of zero bytes: anyone can change them";
const KNOWN: &str =
    "GnuTLS 3.6.4 to 3.6.13 (CVE-2020-13777): anyone can open them too; Apache 2.4.71 with SSLSessionTicketKeyFile: not";

fn gives(seen: &&Observation) -> bool {
    seen.facts().is_some_and(|facts| facts.tickets.count > 0)
}

fn is_zero(seen: &&Observation) -> bool {
    // A session that is resumed without a new ticket keeps the one that it had.
    seen.ticket_key_is_zero && gives(seen)
}

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let of = |node: usize| case.examination.crossed.iter().filter(move |it| it.to == node).map(|it| &it.observation);
    let nodes: Vec<usize> = (0..case.nodes.len()).filter(|node| of(*node).any(|seen| is_zero(&seen))).collect();
    let count = |node: &usize| {
        let (zero, all) = (of(*node).filter(is_zero).count(), of(*node).filter(gives).count());
        format!("{}: the tag verifies under zeros on {zero} of {all} connections that gave a ticket", case.list(&[*node]))
    };
    let evidence: Vec<String> = nodes.iter().take(3).map(count).chain([KNOWN.to_owned()]).collect();
    let finding = CAUSE.finding(Severity::Fault, Confidence::Certain, TITLE).because(evidence);
    (!nodes.is_empty()).then_some(FleetFinding { finding, nodes, reason: "a ticket key of zero bytes" })
}

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let first = case.observations.iter().find(is_zero)?;
    let (count, all) = (case.observations.iter().filter(is_zero).count(), case.observations.iter().filter(gives).count());
    let port = first.local_port().map_or("no port".to_owned(), |port| format!("port {port}"));
    let verified =
        format!("The tag verifies under zeros on {count} of {all} connections that gave a ticket, the first {port}");
    let evidence = [verified, KNOWN.to_owned()];
    Some(case.found(&CAUSE, Severity::Fault, Confidence::Certain, TITLE).because(evidence))
}
