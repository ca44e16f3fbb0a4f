//! `large-client-hello`: a ClientHello as large as those with post-quantum key shares loses the session, or the connection.

use reprise_model::Asked;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::{Cause, ExaminedRule, Rule};
use crate::diagnose::examined::{Examined, ResumptionOutcome, by_outcome, came, mechanism};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["large-client-hello", "segments"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 6, find: ExaminedRule::Several(of_experiments) }),
    ..page!("large-client-hello")
};

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let large = examined.runs(LARGE).filter_map(|run| of_large_hello(examined, run));
    large.chain(examined.runs("segments").filter_map(|run| of_segments(examined, run))).collect()
}

fn of_large_hello(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    if !examined.always_resumes(run.asked) {
        return None;
    }
    let what = what_happens(&run.seen)?;
    let confidence = Examined::each_time(run, |seen| what_happens(seen) == Some(what))?;
    let title = format!("{}: a connection with a large ClientHello {what}", mechanism(run.asked));
    let finding = CAUSE.finding(Severity::Risk, confidence, title);
    let sent = run.seen.first()?.observation.sent;
    let evidence = by_outcome(run.all()).map(|line| format!("{sent} sent: {line}"));
    Some(examined.priced(finding.because(evidence), run.asked.tls))
}

/// A ClientHello in two segments, as a large one is: it fails without a session too. Where only an offer fails, that is `offer-breaks-connection`.
fn of_segments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    if !examined.always_resumes(run.asked) || is_shown(examined, run.asked) {
        return None;
    }
    let fails = |seen: &[ProbeRecord]| seen.first().is_some_and(|first| first.fault.is_some());
    let confidence = Examined::each_time(run, fails)?;
    let title =
        format!("{}: a connection fails whose ClientHello comes in two TCP segments, session or not", mechanism(run.asked));
    Some(CAUSE.finding(Severity::Risk, confidence, title).because(by_outcome(run.all())))
}

const LARGE: &str = "large-client-hello";

/// Whether a large ClientHello loses this mechanism's session or connection.
pub(super) fn is_shown(examined: &Examined<'_>, asked: Asked) -> bool {
    let mut runs = examined.runs(LARGE).filter(|run| run.asked == asked);
    runs.any(|run| of_large_hello(examined, run).is_some())
}

/// What becomes of the connection, or of its session, in which the ClientHello is another one than usual.
pub(super) fn what_happens(seen: &[ProbeRecord]) -> Option<&'static str> {
    match (seen.first()?.fault.is_some(), seen.iter().filter_map(came).next()) {
        (true, _) => Some("fails, whether it offers a session or not"),
        (false, Some(ResumptionOutcome::Refused)) => Some("is not resumed"),
        (false, Some(ResumptionOutcome::Failed(_))) => Some("fails where it offers a session"),
        _ => None,
    }
}
