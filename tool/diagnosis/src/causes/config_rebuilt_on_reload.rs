//! `config-rebuilt-on-reload`: a node refuses its sessions of before, though it was never away.

use reprise_model::document::{Confidence, Severity};
use reprise_probe::fleet::MECHANISMS;

use super::{Cause, Rule};
use crate::diagnose::examined::mechanism;
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk],
    confidences: &[Confidence::Possible],
    fleet: Some(Rule { rank: 6, find: of_fleet }),
    ..page!("config-rebuilt-on-reload")
};

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    MECHANISMS.into_iter().find_map(|asked| of_mechanism(case, asked))
}

/// It was there all the time, as far as was seen, and knows nothing of before.
fn of_mechanism(case: &FleetCase<'_>, asked: reprise_model::Asked) -> Option<FleetFinding> {
    let nodes: Vec<usize> = case.nodes_that_lost_keys(asked).into_iter().filter(|node| !case.was_away(*node)).collect();
    let title = format!(
        "{}: {} refuses its sessions of before, as after a reload or a quick restart",
        mechanism(asked),
        case.list(&nodes)
    );
    let evidence: Vec<String> = nodes.iter().take(3).map(|node| case.cite(asked, (*node, *node))).collect();
    let finding = CAUSE.finding(Severity::Risk, Confidence::Possible, title).because(evidence);
    (!nodes.is_empty()).then_some(FleetFinding { finding, nodes, reason: "a reload lost its keys" })
}
