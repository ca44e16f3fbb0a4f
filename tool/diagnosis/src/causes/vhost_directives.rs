//! `vhost-directives`: the name's own virtual host refuses what the default one accepts: the settings of sessions stand in a
//! server block that is not the listener's default.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::{Cause, ExaminedRule, Rule, default_host_tickets_off};
use crate::diagnose::examined::{Counts, Examined, by_outcome, evidence, mechanism};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["no-sni-at-all", "without-sni", "without-alpn"],
    explained_by: &[&default_host_tickets_off::CAUSE],
    is_of_server: true,
    severities: &[Severity::Fault, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 23, find: ExaminedRule::EachRun("no-sni-at-all", of_experiments) }),
    ..page!("vhost-directives")
};

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let resumes_without = examined.gains(run);
    let plain = examined.plain(run.asked);
    let with = Counts::of(plain.iter().copied());
    // Connections that fail have another cause, and so have sessions that are accepted sometimes.
    if with.failed > 0 || !examined.is_steady(run.asked) {
        return None;
    }
    // Given by the block of the name, and looked up in that of the listener.
    let is_given_with_alone =
        with.refused > 0 && !run.seen.is_empty() && run.seen.iter().all(|seen| gives_nothing(seen, run));
    let (what, confidence) = match (resumes_without, is_given_with_alone) {
        (Some(confidence), _) => ("works without server_name and not with it", confidence),
        (None, true) => ("is given with server_name and never accepted, and not given without it", Confidence::Likely),
        (None, false) => return None,
    };
    let title = format!("{} {what}: virtual hosts differ", mechanism(run.asked));
    let refused = by_outcome(plain).map(|line| format!("With server_name, {line}"));
    let without = evidence(run).map(|line| format!("Without, {line}"));
    let others = examined.runs("resume").filter(|other| other.asked.tls == run.asked.tls && other.asked != run.asked);
    // Where another mechanism of the version resumes, most clients lose nothing.
    let severity = match others.map(|other| Counts::of(examined.plain(other.asked)).resumed).sum() {
        0_usize => Severity::Fault,
        _ => Severity::Note,
    };
    Some(CAUSE.finding(severity, confidence, title).because(refused.chain(without)))
}

/// Whether this full handshake gave nothing by this mechanism.
fn gives_nothing(seen: &ProbeRecord, run: &ExperimentRun) -> bool {
    seen.observation.facts().is_some_and(|facts| match run.asked.kind {
        Kind::Id => !facts.session_id_given,
        _ => facts.tickets.count == 0,
    })
}
