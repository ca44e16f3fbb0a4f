//! `cache-too-small`: a session resumes at once, and not after so many handshakes of others.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::{ExperimentRun, Step};

use super::{Cause, ExaminedRule, JudgedRule, Rule};
use crate::diagnose::StoredSession;
use crate::diagnose::examined::{Examined, by_outcome, mechanism};
use crate::figures::connections;

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["history", "fill"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(
        Concluded::Capacity,
        |_| Severity::Risk,
        |judgement| format!("{}: a session is gone after a few others", mechanism(judgement.asked)),
    )),
    examined: Some(Rule { rank: 1, find: ExaminedRule::EachRun("fill", of_experiments) }),
    ..page!("cache-too-small")
};

/// The same finding with how large a session is, where it is of this cause.
pub(crate) fn with_size(finding: Finding, session: StoredSession) -> Finding {
    if finding.id != CAUSE.slug {
        return finding;
    }
    let evidence: Vec<String> = std::iter::once(session.size()).chain(finding.evidence.iter().cloned()).collect();
    finding.because(evidence)
}

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let confidence = examined.loses_after_many(run)?;
    let between = run.seen.iter().filter(|seen| seen.step == Step::Interpose && seen.fault.is_none()).count();
    if between == 0 {
        return None;
    }
    let between = connections(between as u64);
    let title = format!("A session of {} is gone after {between}", mechanism(run.asked));
    let offered = run.all().filter(|seen| seen.observation.offered.is_some());
    let evidence = std::iter::once(format!("Offered at once, every session resumed; after {between}:"));
    let severity = if examined.has_tickets_instead(run.asked) { Severity::Note } else { Severity::Risk };
    let finding = CAUSE.finding(severity, confidence, title).by_design();
    Some(examined.priced(finding.because(evidence.chain(by_outcome(offered))), run.asked.tls))
}
