//! `early-data-unanswered`: the server accepts early data, and what is asked by it is never answered.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{FaultName, Kind, Observation, Purpose};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 20, find: MeasuredRule::Once(of_measurement) }),
    ..page!("early-data-unanswered")
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let samples = case.observations.iter().filter(|seen| seen.purpose == Purpose::Sample);
    let early: Vec<&Observation> = samples.filter(|seen| seen.asked.kind == Kind::Early).collect();
    let unanswered = early.iter().filter(|seen| seen.outcome == Err(FaultName::EarlyDataUnanswered)).count();
    if unanswered == 0 {
        return None;
    }
    let all = connections(early.len() as u64);
    let mut evidence = vec![format!("No response on {unanswered} of {all} that sent early data")];
    let answered = case.samples().filter(|(seen, _)| seen.asked.kind != Kind::Early).count() as u64;
    if answered > 0 {
        evidence.push(format!("The same request after the handshake was answered on {}", connections(answered)));
    }
    // Where nothing else is answered either, it may be the service.
    let confidence = if answered > 0 { Confidence::Likely } else { Confidence::Possible };
    let title = "The server accepts early data and does not answer it";
    Some(case.found(&CAUSE, Severity::Fault, confidence, title).because(evidence))
}
