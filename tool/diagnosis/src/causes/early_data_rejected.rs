//! `early-data-rejected`: tickets allow early data, and the server rejects it though it retries nothing. RFC 9846 §4.3.10 has
//! the reasons.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{EarlyData, Facts};

use super::{Cause, MeasuredRule, Rule, node_protocol_differs};
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    explained_by: &[&node_protocol_differs::CAUSE],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 17, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..page!("early-data-rejected")
};

fn of_measurement(case: &MeasuredCase<'_>, early: &KindSeries<'_>) -> Option<Finding> {
    // A HelloRetryRequest rejects early data whatever the server would have done with it: that is `early-data-hrr`.
    let is_rejected = |facts: &Facts| facts.early_data == Some(EarlyData::Rejected) && facts.hello_retry.is_none();
    if !early.is_early_data_with(is_rejected) {
        return None;
    }
    let title = match early.with(|facts| facts.early_data == Some(EarlyData::Accepted)) {
        0 => "Tickets allow early data, and the server rejects it",
        _ => "Tickets allow early data, and the server sometimes rejects it",
    };
    let counted = format!("Rejected on {} of {} that sent it", early.with(is_rejected), early.sent_early_data());
    Some(case.found(&CAUSE, Severity::Risk, Confidence::Certain, title).because([counted, SENT_TWICE.to_owned()]))
}

pub(super) const SENT_TWICE: &str = "Each time the request was sent again after the handshake, so its bytes were sent twice";
