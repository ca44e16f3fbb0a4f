//! `psk-refused`: the server does not know the identity of the external PSK.
//!
//! RFC 8446 §4.2.11: a server that does not take a PSK goes on with a full handshake. A known identity with another key would
//! have ended the connection (its binder does not verify), so this is about the identity, the hash or the mode.

use reprise_trace::Kind;
use reprise_trace::document::{Confidence, Finding, MeasureDocument, Remedy, Run, Severity};

use crate::figures::connections;
use crate::observation::refusals;

pub(super) fn findings(document: &MeasureDocument) -> Vec<Finding> {
    let refused = document.runs.iter().filter(|run| run.asked.kind == Kind::Psk && refusals(run) > 0);
    refused.map(finding).collect()
}

fn finding(run: &Run) -> Finding {
    let offered = connections(run.observed.sessions_offered);
    Finding {
        id: "psk-refused".to_owned(),
        severity: Severity::Fault,
        confidence: Confidence::Likely,
        title: "The server does not take the external PSK".to_owned(),
        evidence: vec![
            format!("{} of {offered} that offered it ended in a full handshake", refusals(run)),
            "A wrong key would have ended the connection with an alert (RFC 8446, section 4.2.11)".to_owned(),
        ],
        cost_ns: None,
        remedy: Some(Remedy {
            software: None,
            text: "Compare --psk-identity with the server's, byte by byte; its hash is --psk-hash; if it takes PSKs without key \
                exchange alone, --psk-mode both."
                .to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    #[test]
    fn an_unknown_identity_is_told_from_a_wrong_key() {
        let document = Example::new().run("1.3", Kind::Full, 900).refused("1.3", Kind::Psk, 10).document();
        let [finding] = findings(&document).try_into().unwrap();
        assert_eq!(finding.evidence[0], "10 of 10 connections that offered it ended in a full handshake");
        assert!(finding.remedy.unwrap().text.contains("--psk-identity"));
    }

    #[test]
    fn a_psk_that_is_taken_is_no_finding() {
        assert_eq!(findings(&Example::new().run("1.3", Kind::Psk, 200).document()), []);
    }
}
