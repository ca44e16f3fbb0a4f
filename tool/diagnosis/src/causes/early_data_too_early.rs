//! `early-data-too-early`: TLS accepts early data, and the service behind it answers 425.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{EarlyData, Facts, Kind, Observation};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 19, find: MeasuredRule::EachSeries(of_measurement) }),
    ..page!("early-data-too-early")
};

/// RFC 8470 §5.2: the server will not risk to process a request that might be replayed.
const TOO_EARLY: u16 = 425;

fn of_measurement(case: &MeasuredCase<'_>, early: &KindSeries<'_>) -> Option<Finding> {
    let is_too_early = |(observation, facts): &&(&Observation, &Facts)| {
        observation.http_status == Some(TOO_EARLY) && facts.early_data == Some(EarlyData::Accepted)
    };
    let count = early.completed.iter().filter(is_too_early).count();
    let all = connections(early.count());
    let evidence = format!(
        "Status 425 on {count} of {all}: TLS accepted the request, the service behind it did not (RFC 8470, section 5.2)"
    );
    let title = "The service answers early data with 425 Too Early";
    (early.asked.kind == Kind::Early && count > 0)
        .then(|| case.found(&CAUSE, Severity::Risk, Confidence::Certain, title).because([evidence]))
}
