//! `early-data-late`: the server accepts early data and answers it only after the client's Finished, a round trip later than it could.

use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 46, find: MeasuredRule::Once(of_measurement) }),
    ..page!("early-data-late")
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let held: Vec<bool> = case.observations.iter().filter_map(|seen| seen.answered_before_finished).collect();
    if held.is_empty() || held.contains(&true) {
        return None;
    }
    let evidence = format!("No response came before it on {} that held the Finished back", connections(held.len() as u64));
    let title = "Early data is accepted and saves no round trip: it is answered only after the client's Finished";
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title).because([evidence]))
}
