//! `ems-differs`: sessions made with the extended master secret are offered without it, or the reverse.
//!
//! RFC 7627 §5.3: the server must abort a resumption without the extension of a session that was made with it, and must not resume
//! a session that was made without it where the extension is offered. Found where a server resumes or does not abort, and where a
//! client changes the extension between the connections of one session.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::ExperimentRun;

use super::{Cause, ExaminedRule, Rule};
use crate::client::case::{ClientCase, Offered, named, outcome};
use crate::diagnose::examined::{Examined, ResumptionOutcome, by_outcome, came, mechanism};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["without-extended-master-secret", "with-extended-master-secret"],
    severities: &[Severity::Fault, Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 5, find: ExaminedRule::EachRun("without-extended-master-secret", of_experiments) }),
    watched: Some(Rule { rank: 12, find: of_client }),
    ..page!("ems-differs")
};

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    // A server that knows the extension not at all has nothing to compare.
    if !run.seen.first()?.observation.facts()?.extended_master_secret {
        return None;
    }
    let (severity, confidence, title) = match run.seen.iter().find_map(came)? {
        ResumptionOutcome::Resumed => (
            Severity::Risk,
            Confidence::Likely,
            "resumes a session without the extended master secret that it was made with",
        ),
        ResumptionOutcome::Refused if examined.always_resumes(run.asked) => (
            Severity::Note,
            Confidence::Possible,
            "answers a resumption without extended_master_secret with a full handshake, not with an alert",
        ),
        _ => return None,
    };
    let title = format!("{}: the server {title}", mechanism(run.asked));
    Some(CAUSE.finding(severity, confidence, title).because(by_outcome(&run.seen).chain([RFC.to_owned()])))
}

const RFC: &str = "RFC 7627, section 5.3, has the server abort such a handshake";

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let line = |it: Offered<'_>| {
        let (before, now) = (it.source.offer.as_ref()?.extended_master_secret, it.offer.extended_master_secret);
        let word = if now { "with" } else { "without" };
        let differs =
            || format!("{}: {word} it, unlike the session's connection; {}", named(it.connection), outcome(it.connection));
        (it.session.version == Version::Tls12 && before != now).then(differs)
    };
    let title = "The client changes extended_master_secret between the connections of one session: servers refuse or abort";
    case.found_in(&CAUSE, Severity::Fault, Confidence::Certain, title, case.offered().filter_map(line))
}
