//! `rotation-no-overlap`: ticket keys change again and again, and the key before is not kept.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::Kind;
use reprise_model::document::{Confidence, Severity};

use reprise_probe::fleet::MECHANISMS;

use super::{Cause, JudgedRule, Rule};
use crate::diagnose::examined::mechanism;
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["history", "patience"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(
        JudgedRule::of(
            Concluded::Rotation,
            |_| Severity::Risk,
            |judgement| {
                format!("{}: keys change again and again, and earlier sessions are refused", mechanism(judgement.asked))
            },
        )
        .under(TICKETS),
    ),
    fleet: Some(Rule { rank: 4, find: of_fleet }),
    ..page!("rotation-no-overlap")
};

/// A session ID has no key: a cache whose lifetimes are whole seconds looks the same.
const TICKETS: &[Kind] = &[Kind::Ticket];

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    MECHANISMS.into_iter().find_map(|asked| of_mechanism(case, asked))
}

/// Nodes that shared one key and share another now have not restarted: each would have made a key of its own.
fn of_mechanism(case: &FleetCase<'_>, asked: reprise_model::Asked) -> Option<FleetFinding> {
    let last = |node: usize| case.nodes.get(node)?.key_names.get(&asked)?.last().copied();
    let changed: Vec<usize> = (0..case.nodes.len()).filter(|node| case.change(asked, *node).is_some()).collect();
    let name = changed.iter().find_map(|node| last(*node))?;
    let nodes: Vec<usize> = changed.into_iter().filter(|node| last(*node) == Some(name)).collect();
    let title = format!(
        "{}: the ticket key of {} was replaced, and sessions of before are refused",
        mechanism(asked),
        case.list(&nodes)
    );
    let evidence: Vec<String> = nodes.iter().take(3).map(|node| case.cite(asked, (*node, *node))).collect();
    let finding = CAUSE.finding(Severity::Risk, Confidence::Likely, title).because(evidence);
    (nodes.len() > 1).then_some(FleetFinding { finding, nodes, reason: "keys replaced without overlap" })
}
