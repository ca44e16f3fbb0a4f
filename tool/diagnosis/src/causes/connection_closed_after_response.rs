//! `connection-closed-after-response`: a second request was wanted, and the server ended the connection with the first. What was
//! asked for and not measured must not be missing in silence.

use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, ExaminedRule, MeasuredRule, Rule};
use crate::diagnose::examined::Examined;
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    separated_by: &["keep-alive", "reset"],
    examined: Some(Rule { rank: 41, find: ExaminedRule::Once(of_experiments) }),
    measured: Some(Rule { rank: 23, find: MeasuredRule::Once(of_measurement) }),
    ..page!("connection-closed-after-response")
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let closed = case.samples().filter(|(observation, _)| observation.next_request.is_none()).count();
    if !case.keeps_alive || closed == 0 {
        return None;
    }
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title(closed, case.samples().count())))
}

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    let closed = examined.asked_again().filter(|it| it.next_request.is_none()).count();
    let title = title(closed, examined.asked_again().count());
    (closed > 0).then(|| CAUSE.finding(Severity::Note, Confidence::Certain, title))
}

fn title(closed: usize, all: usize) -> String {
    let all = connections(all as u64);
    format!("The server closes {closed} of {all} after the first response: no further request is possible")
}
