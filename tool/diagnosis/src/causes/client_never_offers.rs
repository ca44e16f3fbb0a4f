//! `client-never-offers`: the client holds sessions and never offers one.
//!
//! Only where it does not even ask for sessions does the wire say why. Otherwise a program that never hands its library a
//! session looks like one that builds a new configuration for each connection: both are said, the likelier first.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, Rule};
use crate::client::case::{Chance, ClientCase, first_lines, named, outcome};
use crate::client::software::{GO, Habit, JAVA, habit};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    watched: Some(Rule { rank: 1, find: of_client }),
    ..page!("client-never-offers")
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    asks_for_none(case).or_else(|| offers_none(case))
}

/// Whether it could have offered a session, and never did, though it asks for them.
pub(super) fn is_silent(case: &ClientCase<'_>) -> bool {
    case.misses().next().is_some() && !case.offers_any() && asks_for_none(case).is_none()
}

/// RFC 9846 §4.3.9: without `psk_key_exchange_modes` a server sends no ticket.
fn asks_for_none(case: &ClientCase<'_>) -> Option<Finding> {
    if case.offers_any() {
        return None;
    }
    let (mut tls12, mut tls13) = (0, 0);
    for (_, offer, agreed) in case.completed() {
        match agreed.version {
            Version::Tls13 if offer.psk_modes.is_none() => tls13 += 1,
            // By session ID it might resume without asking.
            Version::Tls12 if !offer.session_ticket && case.software == Some(GO) => tls12 += 1,
            Version::Tls12 | Version::Tls13 => return None,
        }
    }
    if tls12 + tls13 == 0 {
        return None;
    }
    // Servers on OpenSSL give tickets all the same, and what a client does with those is not seen here. Go's asks where it has a cache.
    let confidence = if case.software == Some(GO) { Confidence::Likely } else { Confidence::Possible };
    let severity = if tls12 + tls13 > 1 { Severity::Fault } else { Severity::Note };
    let title = match confidence {
        Confidence::Likely => "The client does not ask for sessions, as a Go client without a ClientSessionCache does not",
        _ => "The client does not ask for sessions: many servers give it none, those on OpenSSL do all the same",
    };
    let line = |what: &str, count: u32| (count > 0).then(|| format!("{what} in 0 of {count} ClientHellos"));
    let evidence = [
        line("psk_key_exchange_modes (RFC 9846, section 4.3.9)", tls13),
        line("session_ticket (RFC 5077, section 3.2)", tls12),
    ];
    Some(case.found(&CAUSE, severity, confidence, title, evidence.into_iter().flatten().collect()))
}

fn offers_none(case: &ClientCase<'_>) -> Option<Finding> {
    if !is_silent(case) {
        return None;
    }
    let misses = case.misses().count();
    let likely = habit(case.software) == Habit::Waits && misses > 1;
    let confidence = if likely { Confidence::Likely } else { Confidence::Possible };
    let title = format!("The client never offers a session: {misses} connections could have");
    let mut evidence = evidence(case);
    if is_java_without_a_host(case) {
        evidence.push(
            "No server_name in any ClientHello: an SSLEngine that is made without a host and a port, as Netty's \
                newHandler(alloc), finds no session again"
                .to_owned(),
        );
    }
    evidence.push(
        "A new configuration for each connection (client-config-rebuilt) looks the same on the wire. To distinguish them, \
            make two connections from the same configuration object; if the second still offers nothing, it is this"
            .to_owned(),
    );
    Some(case.found(&CAUSE, Severity::Fault, confidence, title, evidence))
}

/// Java keeps its sessions by the host and the port that an SSLEngine is made with, and sends the host as the server's name.
pub(super) fn is_java_without_a_host(case: &ClientCase<'_>) -> bool {
    case.software == Some(JAVA) && case.offers().all(|(_, offer)| offer.sni.is_none())
}

/// Each connection that could have, and where its session came from.
pub(super) fn evidence(case: &ClientCase<'_>) -> Vec<String> {
    let line = |chance: &Chance<'_>| {
        let from = chance.latest().map_or_else(String::new, named);
        format!(
            "{}: no session offered, {}, though it held one from {from}",
            named(chance.connection),
            outcome(chance.connection)
        )
    };
    first_lines(case.misses().map(line))
}
