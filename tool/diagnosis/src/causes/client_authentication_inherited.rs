//! `client-authentication-inherited`: a resumed handshake asks for no client certificate.
//!
//! RFC 9846 §4.4.2 forbids a CertificateRequest beside a PSK, and an abbreviated TLS 1.2 handshake has no room for one
//! (RFC 5246 §7.3): the client's identity is the one that the session was made with.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{ClientAuthentication, Facts, Kind};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 12, find: MeasuredRule::Once(of_measurement) }),
    ..page!("client-authentication-inherited")
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let all = case.conclusive_series();
    let sends = |series: &KindSeries<'_>| series.asked.kind == Kind::Full && series.with(is_sent) > 0;
    let accounts: Vec<String> = all.iter().filter(|it| sends(it)).flat_map(|full| accounts(full, &all)).collect();
    let title = "A resumed handshake sends no client certificate: authentication is inherited from the session";
    (!accounts.is_empty()).then(|| case.found(&CAUSE, Severity::Note, Confidence::Certain, title).because(accounts))
}

fn is_requested(facts: &Facts) -> bool {
    facts.client_authentication != ClientAuthentication::NotRequested
}

fn is_sent(facts: &Facts) -> bool {
    facts.client_authentication == ClientAuthentication::Sent
}

/// Of the full handshakes of a version, and of the resumed ones that rely on them; nothing where there are none.
fn accounts(full: &KindSeries<'_>, all: &[KindSeries<'_>]) -> Vec<String> {
    let resumed = |series: &&KindSeries<'_>| series.asked.tls == full.asked.tls && inherits(series);
    let resumed: Vec<String> = all.iter().filter(resumed).map(account).collect();
    if resumed.is_empty() { resumed } else { [vec![account(full)], resumed].concat() }
}

/// Whether some were resumed, and none of those was asked for a certificate.
fn inherits(series: &KindSeries<'_>) -> bool {
    // An external PSK is the client's own proof, and no session's.
    let is_resumed = |facts: &Facts| facts.kind.is_resumption();
    series.with(is_resumed) > 0 && series.with(|facts| is_resumed(facts) && is_requested(facts)) == 0
}

/// "TLS 1.2 full: certificate requested on 100 of 100 connections, sent on 100".
fn account(series: &KindSeries<'_>) -> String {
    let (asked, requested) = (series.asked, series.with(is_requested));
    let all = connections(series.count());
    let account = format!("{asked}: certificate requested on {requested} of {all}");
    if requested == 0 { account } else { format!("{account}, sent on {}", series.with(is_sent)) }
}
