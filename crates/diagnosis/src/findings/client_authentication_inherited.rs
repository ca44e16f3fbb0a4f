//! `client-authentication-inherited`: a resumed handshake asks for no client certificate.
//!
//! RFC 8446 §4.3.2 forbids a CertificateRequest beside a PSK, and an abbreviated TLS 1.2 handshake has no room for one
//! (RFC 5246 §7.3): the client's identity is the one that the session was made with.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{ClientAuthentication, Facts, Kind};

use crate::figures::connections;
use crate::series::{Case, Series};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let all = case.conclusive_series();
    let sends = |series: &Series<'_>| series.asked.kind == Kind::Full && series.with(is_sent) > 0;
    let accounts: Vec<String> = all.iter().filter(|it| sends(it)).flat_map(|full| accounts(full, &all)).collect();
    if accounts.is_empty() { Vec::new() } else { vec![finding(case, accounts)] }
}

fn is_requested(facts: &Facts) -> bool {
    facts.client_authentication != ClientAuthentication::NotRequested
}

fn is_sent(facts: &Facts) -> bool {
    facts.client_authentication == ClientAuthentication::Sent
}

/// Of the full handshakes of a version, and of the resumed ones that rely on them; nothing where there are none.
fn accounts(full: &Series<'_>, all: &[Series<'_>]) -> Vec<String> {
    let resumed = |series: &&Series<'_>| series.asked.tls == full.asked.tls && inherits(series);
    let resumed: Vec<String> = all.iter().filter(resumed).map(account).collect();
    if resumed.is_empty() { resumed } else { [vec![account(full)], resumed].concat() }
}

/// Whether some were resumed, and none of those was asked for a certificate.
fn inherits(series: &Series<'_>) -> bool {
    // An external PSK is the client's own proof, and no session's.
    let is_resumed = |facts: &Facts| !matches!(facts.kind, Kind::Full | Kind::Psk);
    series.with(is_resumed) > 0 && series.with(|facts| is_resumed(facts) && is_requested(facts)) == 0
}

fn finding(case: &Case<'_>, evidence: Vec<String>) -> Finding {
    let title = "A resumed handshake sends no client certificate: authentication is inherited from the session";
    case.found("client-authentication-inherited", Severity::Note, Confidence::Certain, title).because(evidence)
}

/// "TLS 1.2 full: certificate requested on 100 of 100 connections, sent on 100".
fn account(series: &Series<'_>) -> String {
    let (asked, requested) = (series.asked, series.with(is_requested));
    let all = connections(series.count());
    let account = format!("{} {}: certificate requested on {requested} of {all}", asked.tls, asked.kind);
    if requested == 0 { account } else { format!("{account}, sent on {}", series.with(is_sent)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};

    fn mutual() -> Example {
        Example::new().run("1.2", Kind::Full, 900).facts(|it| it.client_authentication = ClientAuthentication::Sent)
    }

    #[test]
    fn the_resumed_handshake_relies_on_the_session() {
        let finding = only(findings, mutual().run("1.2", Kind::Id, 200)).unwrap();
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
        let asks_again = |it: &mut reprise_model::Observation| {
            it.outcome.as_mut().unwrap().client_authentication = ClientAuthentication::RequestedNoneSent;
        };
        let partly = mutual().run("1.2", Kind::Id, 200).of_which_full(30).first(30, asks_again);
        assert!(only(findings, partly).is_some());
    }

    #[test]
    fn an_external_psk_inherits_nothing() {
        let full = Example::new().run("1.3", Kind::Full, 900);
        let full = full.facts(|it| it.client_authentication = ClientAuthentication::Sent);
        assert_eq!(only(findings, full.run("1.3", Kind::Psk, 200)), None);
    }

    #[test]
    fn a_certificate_that_was_never_sent_is_not_inherited() {
        let anonymous = mutual().facts(|it| it.client_authentication = ClientAuthentication::RequestedNoneSent);
        assert_eq!(only(findings, anonymous.run("1.2", Kind::Id, 200)), None);
    }

    #[test]
    fn a_server_that_asks_for_nothing_has_nothing_to_inherit() {
        assert_eq!(only(findings, Example::new().run("1.2", Kind::Full, 900).run("1.2", Kind::Id, 200)), None);
    }
}
