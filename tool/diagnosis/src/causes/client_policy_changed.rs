//! `client-policy-changed`: nodes ask for client certificates differently, and refuse each other's sessions.

use reprise_model::document::{Confidence, Severity};
use reprise_probe::fleet::MECHANISMS;

use super::{Cause, Rule};
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["without-certificate"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely],
    fleet: Some(Rule { rank: 10, find: of_fleet }),
    ..page!("client-policy-changed")
};

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let unlike = case.unlike_the_most(|node| node.is_reached().then(|| node.asks_for_certificate.clone()));
    let refused = MECHANISMS
        .into_iter()
        .find_map(|asked| Some((asked, unlike.pairs().find(|pair| case.refuses_under_one_key(asked, *pair))?)));
    let who = case.list(&unlike.nodes);
    let differs = format!("{who} treats client certificates otherwise than the others");
    let finding = match refused {
        _ if unlike.nodes.is_empty() => return None,
        Some((asked, pair)) => {
            let title = format!("{differs}, and sessions are refused between them");
            CAUSE.finding(Severity::Risk, Confidence::Likely, title).because([case.cite(asked, pair)])
        }
        None => CAUSE.finding(Severity::Note, Confidence::Likely, differs),
    };
    Some(FleetFinding { finding, nodes: unlike.nodes, reason: "other rules for client certificates" })
}
