//! `session-context-unset`: a server on OpenSSL asks for client certificates and has no session id context: a session that is
//! offered ends the connection with internal_error.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, ClientAuthentication, FaultName};

use super::examined::{Examined, ResumptionOutcome, by_outcome, came};

/// RFC 8446 §6: internal_error.
const INTERNAL_ERROR: FaultName = FaultName::Alert(80);

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let asked: Vec<Asked> = examined.runs("resume").map(|run| run.asked).filter(|it| is_shown(examined, *it)).collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let title = "The server requests client certificates and cannot resume such sessions: it closes the connection";
    let seen = asked.into_iter().flat_map(|asked| examined.plain(asked));
    let evidence = std::iter::once("It asks for a certificate in full handshakes".to_owned()).chain(by_outcome(seen));
    vec![Finding::new("session-context-unset", Severity::Fault, Confidence::Likely, title).because(evidence)]
}

/// Whether every offer of this mechanism ends in internal_error, at a server that asks for certificates.
pub(super) fn is_shown(examined: &Examined<'_>, asked: Asked) -> bool {
    let asks = |it: ClientAuthentication| it != ClientAuthentication::NotRequested;
    let is_asked = examined.full().filter_map(|seen| seen.observation.facts()).any(|it| asks(it.client_authentication));
    let offers: Vec<ResumptionOutcome> = examined.plain(asked).into_iter().filter_map(came).collect();
    is_asked && !offers.is_empty() && offers.iter().all(|came| *came == ResumptionOutcome::Failed(INTERNAL_ERROR))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TLS12, only};

    #[test]
    fn internal_error_beside_a_certificate_request_is_the_context() {
        let failing = || Scene::resuming(TLS12).resumptions_fail(INTERNAL_ERROR);
        assert_eq!(only(findings, &failing()), None, "it asks for no certificate");
        let asks = failing().facts(|facts| facts.client_authentication = ClientAuthentication::Sent);
        assert_eq!(only(findings, &asks).unwrap().severity, Severity::Fault);
    }
}
