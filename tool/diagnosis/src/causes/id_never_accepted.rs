//! `id-never-accepted`: session IDs are given and none is ever accepted. nginx's default cache `none` does just that.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Kind, Phase, Version};

use super::{
    Cause, MeasuredRule, Rule, certificate_renewed, context_per_connection, session_too_large, unclean_close_evicts,
    vhost_directives,
};
use crate::savings::{Saving, saving};
use crate::series::{KindSeries, MeasuredCase, TICKETS_COVER};

pub(super) static CAUSE: Cause = Cause {
    explained_by: &[
        &vhost_directives::CAUSE,
        &session_too_large::CAUSE,
        &context_per_connection::CAUSE,
        &unclean_close_evicts::CAUSE,
    ],
    separated_by: &["resume", "no-certificate-at-all"],
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 3, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..page!("id-never-accepted")
};

fn of_measurement(case: &MeasuredCase<'_>, refused: &KindSeries<'_>) -> Option<Finding> {
    // TLS 1.3 has none to accept.
    let is_meant = refused.asked.kind == Kind::Id && refused.is_never_accepted(case);
    if !is_meant || certificate_renewed::is_shown(case, refused.asked) {
        return None;
    }
    let tickets_resume = case.tickets_cover_ids();
    // A ticket that resumes under the same version tells what an accepted ID would have saved.
    let ticket = case.conclusive_run(Version::Tls12, Kind::Ticket);
    let ticket = ticket.and_then(|ticket| saving(case.figures, ticket, Phase::Tls));
    let mut evidence = vec![refused.refusal(case)];
    if tickets_resume {
        evidence.push(TICKETS_COVER.to_owned());
    }
    let severity = if tickets_resume { Severity::Risk } else { Severity::Fault };
    let title = "TLS 1.2 session IDs are given and never accepted";
    let finding = case.found(&CAUSE, severity, refused.confidence_of_refusal(case), title).because(evidence);
    let cost_ns = ticket.filter(Saving::is_shown).map(|saving| saving.saved());
    Some(finding.costing(cost_ns).costing_cpu(case.cpu_cost(Version::Tls12)))
}
