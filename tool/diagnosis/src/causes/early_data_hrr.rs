//! `early-data-hrr`: a HelloRetryRequest rejects early data, whatever the server would have done with it (RFC 9846 §4.3.10).

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{EarlyData, Facts};

use super::early_data_rejected::SENT_TWICE;
use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["hello-retry-request", "early-data"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 18, find: MeasuredRule::EachSeries(of_measurement) }),
    ..page!("early-data-hrr")
};

fn of_measurement(case: &MeasuredCase<'_>, early: &KindSeries<'_>) -> Option<Finding> {
    let is_retried = |facts: &Facts| facts.early_data == Some(EarlyData::Rejected) && facts.hello_retry.is_some();
    if !early.is_early_data_with(is_retried) {
        return None;
    }
    let retried = early.with(is_retried);
    let title = "The server requests another group, and its HelloRetryRequest rejects early data";
    let evidence = [
        format!("Rejected on {retried} of {} that sent it", early.sent_early_data()),
        format!("A HelloRetryRequest came on {}, which rejects early data (RFC 9846, section 4.3.10)", connections(retried)),
        SENT_TWICE.to_owned(),
    ];
    Some(case.found(&CAUSE, Severity::Risk, Confidence::Certain, title).because(evidence))
}
