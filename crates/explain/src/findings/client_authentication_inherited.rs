//! `client-authentication-inherited`: a resumed handshake asks for no client certificate.
//!
//! RFC 8446 §4.3.2 forbids a CertificateRequest beside a PSK, and an abbreviated TLS 1.2 handshake has no room for one
//! (RFC 5246 §7.3): the client's identity is the one that the session was made with.

use reprise_trace::document::{Confidence, Finding, MeasureDocument, Remedy, Run, Severity};
use reprise_trace::{Kind, Version};

use crate::figures::connections;
use crate::observation::{completed, resumptions, versions};

pub(super) fn findings(document: &MeasureDocument) -> Vec<Finding> {
    let accounts: Vec<String> =
        versions(document).into_iter().flat_map(|version| accounts(document, version)).map(account).collect();
    if accounts.is_empty() { Vec::new() } else { vec![finding(accounts)] }
}

/// The full run of a version and the resumed ones that rely on it; nothing where no certificate was sent.
fn accounts(document: &MeasureDocument, version: Version) -> Vec<&Run> {
    let full = document.run(version, Kind::Full).filter(|run| run.observed.client_certificate_sent > 0);
    let resumed: Vec<&Run> = resumptions(document, version).filter(|run| inherits(run)).collect();
    match full {
        Some(full) if !resumed.is_empty() => std::iter::once(full).chain(resumed).collect(),
        _ => Vec::new(),
    }
}

/// Whether this run resumed, and asked for a certificate on no more connections than were full.
fn inherits(run: &Run) -> bool {
    let full = run.observed.kinds.of(Kind::Full);
    completed(run) > full && run.observed.client_certificate_requested <= full
}

fn finding(evidence: Vec<String>) -> Finding {
    Finding {
        id: "client-authentication-inherited".to_owned(),
        severity: Severity::Note,
        confidence: Confidence::Certain,
        title: "A resumed handshake sends no client certificate: authentication is inherited from the session".to_owned(),
        evidence,
        cost_ns: None,
        remedy: Some(Remedy {
            software: None,
            text: "Whoever holds the session is the client until it expires, even if the certificate is revoked: keep its \
                lifetime short (nginx: ssl_session_timeout), or check revocation when a session is resumed."
                .to_owned(),
        }),
    }
}

/// "TLS 1.2 full: certificate requested on 100 of 100 connections, sent on 100".
fn account(run: &Run) -> String {
    let observed = &run.observed;
    let requested = observed.client_certificate_requested;
    let asked = run.asked;
    let account =
        format!("{} {}: certificate requested on {requested} of {}", asked.tls, asked.kind, connections(completed(run)));
    if requested == 0 { account } else { format!("{account}, sent on {}", observed.client_certificate_sent) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    fn mutual() -> Example {
        Example::new().run("1.2", Kind::Full, 900).observed(|it| {
            it.client_certificate_requested = 100;
            it.client_certificate_sent = 100;
        })
    }

    #[test]
    fn the_resumed_handshake_relies_on_the_session() {
        let [finding] = findings(&mutual().run("1.2", Kind::Id, 200).document()).try_into().unwrap();
        assert_eq!((finding.severity, finding.confidence), (Severity::Note, Confidence::Certain));
        assert_eq!(
            finding.evidence,
            [
                "TLS 1.2 full: certificate requested on 100 of 100 connections, sent on 100",
                "TLS 1.2 id: certificate requested on 0 of 100 connections"
            ]
        );
    }

    #[test]
    fn refused_resumptions_that_ask_again_do_not_hide_it() {
        let partly = mutual().run("1.2", Kind::Id, 200).of_which_full(30);
        let document = partly.observed(|it| it.client_certificate_requested = 30).document();
        assert_eq!(findings(&document).len(), 1);
    }

    #[test]
    fn a_certificate_that_was_never_sent_is_not_inherited() {
        let anonymous = mutual().observed(|it| it.client_certificate_sent = 0);
        assert_eq!(findings(&anonymous.run("1.2", Kind::Id, 200).document()), []);
    }

    #[test]
    fn a_server_that_asks_for_nothing_has_nothing_to_inherit() {
        let document = Example::new().run("1.2", Kind::Full, 900).run("1.2", Kind::Id, 200).document();
        assert_eq!(findings(&document), []);
    }
}
