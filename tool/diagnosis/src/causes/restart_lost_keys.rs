//! `restart-lost-keys`: at one moment the name of the ticket key changes for all, and what was sealed before is refused from then
//! on: a restart, a reload or a rotation without overlap. From outside they look alike.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Severity};

use reprise_probe::fleet::MECHANISMS;

use super::{Cause, JudgedRule, Rule};
use crate::diagnose::examined::mechanism;
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["history"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(
        Concluded::Restart,
        |_| Severity::Risk,
        |judgement| format!("{}: keys changed at one moment, and earlier sessions are refused", mechanism(judgement.asked)),
    )),
    fleet: Some(Rule { rank: 5, find: of_fleet }),
    ..page!("restart-lost-keys")
};

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    MECHANISMS.into_iter().find_map(|asked| of_mechanism(case, asked))
}

/// It was away, and knows nothing of before.
fn of_mechanism(case: &FleetCase<'_>, asked: reprise_model::Asked) -> Option<FleetFinding> {
    let nodes: Vec<usize> = case.nodes_that_lost_keys(asked).into_iter().filter(|node| case.was_away(*node)).collect();
    let title = format!("{}: {} was restarted, and refuses its sessions of before", mechanism(asked), case.list(&nodes));
    let evidence: Vec<String> = nodes.iter().take(3).map(|node| case.cite(asked, (*node, *node))).collect();
    let finding = CAUSE.finding(Severity::Risk, Confidence::Likely, title).because(evidence);
    (!nodes.is_empty()).then_some(FleetFinding { finding, nodes, reason: "a restart lost its keys" })
}
