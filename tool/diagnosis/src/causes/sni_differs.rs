//! `sni-differs`: a session resumes only under the name that it was made for, by design (RFC 6066 §3).
//!
//! Found at a server that refuses it without its name, and at a client that offers it under another name: RFC 9846 §4.7.1 has clients
//! resume only if the name matches.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::ExperimentRun;

use super::{Cause, ExaminedRule, Rule};
use crate::client::case::{ClientCase, Offered, named, outcome};
use crate::diagnose::examined::{Examined, evidence, mechanism};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["without-sni"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 18, find: ExaminedRule::Once(of_experiments) }),
    watched: Some(Rule { rank: 8, find: of_client }),
    ..page!("sni-differs")
};

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    // A connection that fails without a name may fail for the name alone: a server has no certificate for none.
    let runs: Vec<(&ExperimentRun, Confidence)> =
        examined.runs("without-sni").filter_map(|run| Some((run, examined.loses(run)?))).collect();
    let evidence: Vec<String> = runs.iter().flat_map(|(run, _)| evidence(run)).collect();
    let by: Vec<String> = runs.iter().map(|(run, _)| mechanism(run.asked)).collect();
    let confidence = runs.iter().map(|(_, confidence)| *confidence).min()?;
    let title = format!("Sessions resume only under their own server name ({})", by.join(", "));
    Some(CAUSE.finding(Severity::Note, confidence, title).because(evidence).by_design())
}

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let line = |it: Offered<'_>| {
        let before = it.source.offer.as_ref()?.sni.as_deref();
        let of = before.unwrap_or("no name");
        let differs = || format!("{}: a session of {of}; {}", named(it.connection), outcome(it.connection));
        (before != it.offer.sni.as_deref()).then(differs)
    };
    let title = "The client offers sessions of one name to another";
    case.found_in(&CAUSE, Severity::Risk, Confidence::Certain, title, case.offered().filter_map(line))
}
