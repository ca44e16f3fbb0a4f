//! `client-certificate-missing`: the server asked for a client certificate, there was none to send, and it answers with errors.
//!
//! nginx with `ssl_verify_client on` finishes the handshake, answers 400 and forgets the session: whatever is then seen of
//! resumption follows from the certificate that is missing.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{ClientAuthentication, Facts, Observation};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk],
    confidences: &[Confidence::Likely],
    measured: Some(Rule { rank: 1, find: MeasuredRule::Once(of_measurement) }),
    ..page!("client-certificate-missing")
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let asked_in_vain = || case.samples().filter(|(_, facts)| is_asked_in_vain(facts));
    let asked = asked_in_vain().count() as u64;
    let refused: Vec<&Observation> =
        asked_in_vain().map(|(seen, _)| seen).filter(|seen| seen.http_status.is_some_and(|status| status >= 400)).collect();
    // A server that asks and does not insist answers well.
    if refused.is_empty() || (refused.len() as u64) < asked {
        return None;
    }
    let status = refused.iter().find_map(|seen| seen.http_status).unwrap_or_default();
    let evidence = format!(
        "Certificate requested and none sent on {} of {}; each got an error response ({status})",
        asked,
        connections(case.samples().count() as u64)
    );
    let title = "The server requests a client certificate, and the client has none";
    Some(case.found(&CAUSE, Severity::Risk, Confidence::Likely, title).because([evidence]))
}

fn is_asked_in_vain(facts: &Facts) -> bool {
    facts.client_authentication == ClientAuthentication::RequestedNoneSent
}
