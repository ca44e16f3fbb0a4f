//! `error-responses`: responses are no successes. An error page or a redirection is seldom what was to be measured.

use std::collections::BTreeMap;

use reprise_model::document::{AnswerDifference, Confidence, Finding, Severity};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 22, find: MeasuredRule::Once(of_measurement) }),
    ..page!("error-responses")
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    if case.figures.answers_differ.iter().any(AnswerDifference::is_error) {
        // What is wrong is not the request.
        return None;
    }
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    let unsuccessful = |status: &u16| !(200..300).contains(status);
    for status in case.samples().filter_map(|(observation, _)| observation.http_status).filter(unsuccessful) {
        *statuses.entry(status).or_default() += 1;
    }
    let statuses: Vec<String> = statuses.iter().map(|(status, count)| format!("{status} on {count}")).collect();
    if statuses.is_empty() {
        return None;
    }
    let title = format!("HTTP status {} of {}", statuses.join(", "), connections(case.samples().count() as u64));
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title))
}
