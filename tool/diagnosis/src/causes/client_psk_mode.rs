//! `client-psk-mode`: this client offers psk_ke alone, and no server took it.
//!
//! RFC 9846 §4.3.9: a server neither uses a mode that was not offered nor sends tickets that could not be used. What then looks
//! like its own setting is this client's.
//!
//! `client-psk-mode`: the server resumes in a mode that most clients do not offer.
//!
//! `client-psk-mode`: the client offers psk_ke alone, which hardly any server takes.

use reprise_model::document::{Confidence, Finding, Remedy, Severity};
use reprise_model::{Facts, PskMode, Version};
use reprise_probe::diagnose::ExperimentRun;

use super::{Cause, ExaminedRule, MeasuredRule, Rule};
use crate::client::case::{ClientCase, named};
use crate::diagnose::examined::{Examined, ResumptionOutcome, came, evidence};
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["both-psk-modes", "psk-ke"],
    severities: &[Severity::Fault, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 11, find: MeasuredRule::Once(of_measurement) }),
    examined: Some(Rule { rank: 2, find: ExaminedRule::EachRun("both-psk-modes", of_experiments) }),
    watched: Some(Rule { rank: 4, find: of_client }),
    ..page!("client-psk-mode")
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    if !is_the_cause(case) {
        return None;
    }
    let title = "No TLS 1.3 connection used psk_ke, the only mode offered";
    let evidence = [
        format!("psk_ke on 0 of {}", connections(tls13(case).count() as u64)),
        "A server without psk_ke issues no ticket, or refuses it (RFC 9846, section 4.3.9)".to_owned(),
    ];
    let remedy = Remedy::general("--psk-mode both lets the server choose");
    Some(CAUSE.finding(Severity::Note, Confidence::Certain, title).because(evidence).fixed_by(vec![remedy]))
}

/// Whether sessions of TLS 1.3 could only be resumed in a way in which none was.
pub(super) fn is_the_cause(case: &MeasuredCase<'_>) -> bool {
    let is_used = |facts: &Facts| facts.psk_mode == Some(PskMode::PskKe);
    // Tickets that nothing offered again show that the server knows the mode.
    let shows_it = |facts: &Facts| facts.session_offered || facts.tickets.count == 0;
    case.psk_modes == [PskMode::PskKe] && tls13(case).any(shows_it) && !tls13(case).any(is_used)
}

/// Those whose response was no error: an error page says nothing of resumption.
fn tls13<'a>(case: &MeasuredCase<'a>) -> impl Iterator<Item = &'a Facts> {
    let well = case.samples().filter(|(observation, _)| observation.is_answered_well());
    well.map(|(_, facts)| facts).filter(|facts| facts.version == Version::Tls13)
}

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let confidence = examined.gains(run)?;
    let resumed = run.seen.iter().find(|seen| came(seen) == Some(ResumptionOutcome::Resumed))?;
    let mode = resumed.observation.facts()?.psk_mode?;
    let title = "The server resumes with psk_ke alone, which common clients do not offer";
    // The cause's own remedies let a server take psk_ke, which this one does.
    let remedy = Remedy::general("Let the server accept psk_dhe_ke, the mode that clients offer");
    let finding = CAUSE.finding(Severity::Fault, confidence, title).because(evidence(run)).fixed_by(vec![remedy]);
    (mode == PskMode::PskKe).then_some(finding)
}

/// RFC 9846 §4.3.9.
const PSK_DHE_KE: u8 = 1;

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let tls13 = case.completed().filter(|(_, _, agreed)| agreed.version == Version::Tls13);
    let lines = tls13
        .filter(|(_, offer, _)| offer.psk_modes.as_ref().is_some_and(|modes| !modes.contains(&PSK_DHE_KE)))
        .map(|(connection, _, _)| format!("{}: psk_key_exchange_modes without psk_dhe_ke", named(connection)));
    let severity = if case.completed().count() > 1 { Severity::Fault } else { Severity::Note };
    let title = "The client offers psk_ke alone: servers that want forward secrecy give it no ticket";
    case.found_in(&CAUSE, severity, Confidence::Certain, title, lines)
}
