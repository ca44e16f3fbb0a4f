//! `isolation-broken`: a session is accepted where its holder is refused. A handshake that resumes asks for no client certificate, so
//! that whoever checks it in full handshakes alone lets in who has a session of any place with the same ticket keys or cache.

use std::cmp::Reverse;
use std::iter;

use itertools::Itertools;
use reprise_model::FaultName;
use reprise_model::document::{Confidence, Finding, IsolationVerdict, Remedy, Severity};
use reprise_probe::isolation::{CameTo, Seen};

use super::{Cause, Rule};
use crate::crossed_offer::{CrossedOffer, outcome};
use crate::diagnose::examined::mechanism;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely],
    security_severity: Some("8.1"),
    isolated: Some(Rule { rank: 1, find: of_offers }),
    ..page!("isolation-broken")
};

/// What fixes it where a server's own sessions enter: keys of its own it has.
const CHECKS: &[(&str, &str)] = &[
    (
        "Node",
        "!socket.authorized || !socket.getPeerCertificate().raw (is who must be refused: under TLS 1.3 socket.authorized alone is true on \
         each resumed connection, with or without a certificate)",
    ),
    (
        "Go",
        "check request.TLS.PeerCertificates in the handler, or in VerifyConnection: VerifyPeerCertificate is not called for resumed connections",
    ),
    (
        "OpenSSL API",
        "SSL_get0_peer_certificate on each connection, and SSL_get_verify_result: that alone is X509_V_OK without a certificate too",
    ),
];

fn of_offers(offers: &[&CrossedOffer<'_>]) -> Vec<Finding> {
    let with = |verdict| {
        let mut with: Vec<&CrossedOffer<'_>> = offers.iter().copied().filter(|it| it.record.verdict == verdict).collect();
        with.sort_by_key(|it| (it.run.holder, Reverse(it.run.asked.tls)));
        with
    };
    let (own, of_others): (Vec<_>, Vec<_>) =
        with(IsolationVerdict::Broken).into_iter().partition(|it| it.run.from == it.run.to);
    let noticed = with(IsolationVerdict::Noticed);
    let fault = |broken: &[&CrossedOffer<'_>], title: String| {
        let confidence = if broken.iter().any(|it| is_certain(it)) { Confidence::Certain } else { Confidence::Likely };
        CAUSE.finding(Severity::Fault, confidence, title).because(evidence(broken))
    };
    let mut findings = Vec::new();
    if !of_others.is_empty() {
        let title = format!("Sessions of {} enter here, though full handshakes do not", sources(&of_others));
        findings.push(fault(&of_others, title));
    }
    if !own.is_empty() {
        let title = "A client that full handshakes refuse enters with a session that this server gave it".to_owned();
        findings.push(fault(&own, title).fixed_by(checks()));
    }
    if !noticed.is_empty() {
        let title = format!("Sessions of {} are accepted here, and the response refuses the request", sources(&noticed));
        findings.push(CAUSE.finding(Severity::Note, Confidence::Certain, title).because(evidence(&noticed)));
    }
    findings
}

fn checks() -> Vec<Remedy> {
    let general = Remedy::general(
        "Check the client's certificate on every connection, not in full handshakes alone: a resumed handshake asks for none, and \
         the session holds that of its full handshake, if there was one",
    );
    iter::once(general).chain(Remedy::table(CHECKS)).collect()
}

/// The targets that gave these sessions, each once.
fn sources(offers: &[&CrossedOffer<'_>]) -> String {
    offers.iter().map(|it| it.record.from.as_str()).sorted_unstable().dedup().join(", ")
}

/// So many full handshakes, each refused, leave no room for a node among several that lets the holder in.
const ENOUGH: usize = 8;

/// Whether nothing else explains it: the refusal is one of clients, and what was asked for was answered.
fn is_certain(offer: &CrossedOffer<'_>) -> bool {
    let is_of_the_client = |seen: &Seen| match seen.came_to() {
        CameTo::RefusedByTls(name) => seen.asks_for_certificate == Some(true) || speaks_of_the_client(name),
        CameTo::RefusedByResponse(_) => true,
        CameTo::LetIn | CameTo::Nothing => false,
    };
    let is_answered = |seen: &Seen| {
        let is_failure = seen.observation.http_status.is_some_and(|status| status >= 500);
        seen.came_to() == CameTo::LetIn && !is_failure
    };
    if offer.record.full.let_in > 0 {
        // The same response each time, and it is another's.
        return true;
    }
    offer.full.len() >= ENOUGH && offer.full.iter().all(is_of_the_client) && offer.accepted().any(is_answered)
}

/// RFC 9846 §6.2: bad_certificate to unknown_ca, access_denied, unrecognized_name, certificate_required.
fn speaks_of_the_client(name: FaultName) -> bool {
    matches!(name, FaultName::Alert(42..=46 | 48 | 49 | 112 | 116))
}

/// What was offered and came of it, and below the last of one version what the holder's full handshakes come to.
fn evidence(offers: &[&CrossedOffer<'_>]) -> Vec<String> {
    let key = |offer: &CrossedOffer<'_>| (offer.run.holder, offer.run.asked.tls);
    let groups: Vec<&[&CrossedOffer<'_>]> = offers.chunk_by(|one, other| key(one) == key(other)).collect();
    groups
        .into_iter()
        .flat_map(|group| group.iter().map(|it| offered(it)).chain(group.last().map(|it| refused(it))))
        .collect()
}

fn holder(offer: &CrossedOffer<'_>) -> String {
    offer.record.holder.as_ref().map_or("a client without a certificate".to_owned(), |file| format!("the holder of {file}"))
}

fn offered(offer: &CrossedOffer<'_>) -> String {
    let record = &offer.record;
    let first = offer.accepted().next().map(|seen| {
        let port = seen.observation.local_port().map_or("no port".to_owned(), |port| format!("port {port}"));
        format!("{port} at {:.2} s: {}", seen.observation.start.0 as f64 / 1e9, outcome(seen))
    });
    let older = if record.session_tls == record.asked.tls { String::new() } else { format!(" of {}", record.session_tls) };
    format!(
        "{}: {} of {} sessions{older} that {} gave to {} were resumed ({})",
        mechanism(record.asked),
        record.accepted,
        record.offered,
        record.from,
        holder(offer),
        first.unwrap_or_default()
    )
}

fn refused(offer: &CrossedOffer<'_>) -> String {
    let full = &offer.record.full;
    if full.let_in > 0 {
        return format!(
            "{}: full handshakes of {} get another response than those sessions, which get the one of another client",
            offer.record.asked.tls,
            holder(offer)
        );
    }
    format!(
        "{}: {} of {} full handshakes of {} were refused: {}",
        offer.record.asked.tls,
        full.connections - full.let_in,
        full.connections,
        holder(offer),
        full.came_to.join(", ")
    )
}
