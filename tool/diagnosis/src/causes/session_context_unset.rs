//! `session-context-unset`: a server on OpenSSL asks for client certificates and has no session id context: a session that is
//! offered ends the connection with internal_error.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, ClientAuthentication, Facts, FaultName, Kind, Observation};
use reprise_probe::fleet::MECHANISMS;

use super::{Cause, MeasuredRule, Rule};
use crate::diagnose::examined::{mechanism, named};
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["without-certificate"],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Certain, Confidence::Likely],
    measured: Some(Rule { rank: 49, find: MeasuredRule::Once(of_measurement) }),
    ..page!("session-context-unset")
};

/// RFC 9846 §6.2: internal_error.
const INTERNAL_ERROR: FaultName = FaultName::Alert(80);

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let asked: Vec<Asked> = MECHANISMS.into_iter().filter(|asked| is_shown(case.observations, *asked)).collect();
    if asked.is_empty() {
        return None;
    }
    let title = "The server requests client certificates and cannot resume such sessions: it closes the connection";
    let counted = |asked: &Asked| {
        let count = connections(offers(case.observations, *asked).count() as u64);
        format!("{}: {count} offered a session, and each ended in {}", mechanism(*asked), named(INTERNAL_ERROR))
    };
    let evidence =
        std::iter::once("It asks for a certificate in full handshakes".to_owned()).chain(asked.iter().map(counted));
    let is_sure = asked.iter().any(|asked| offers(case.observations, *asked).count() >= CERTAIN);
    let confidence = if is_sure { Confidence::Certain } else { Confidence::Likely };
    Some(case.found(&CAUSE, Severity::Fault, confidence, title).because(evidence).under(asked.clone()))
}

/// So many offers of one mechanism, each of which ended so, are no chance.
const CERTAIN: usize = 3;

/// Whether every offer of this mechanism ends in internal_error, at a server that asks for certificates.
pub(super) fn is_shown(observations: &[Observation], asked: Asked) -> bool {
    let asks = |facts: &Facts| facts.kind == Kind::Full && facts.client_authentication != ClientAuthentication::NotRequested;
    let is_asked = observations.iter().filter_map(Observation::facts).any(asks);
    let mut of_mechanism = offers(observations, asked).peekable();
    is_asked && of_mechanism.peek().is_some() && of_mechanism.all(|seen| seen.outcome == Err(INTERNAL_ERROR))
}

/// The connections that offered a session of this mechanism.
fn offers(observations: &[Observation], asked: Asked) -> impl Iterator<Item = &Observation> {
    let is_of_it = move |seen: &&Observation| {
        let is_made = seen.facts().is_some_and(|_| seen.is_answered_well()) || seen.is_failed_offer();
        seen.asked.tls == asked.tls && seen.offered.is_some_and(|offered| offered.kind == asked.kind) && is_made
    };
    observations.iter().filter(is_of_it)
}
