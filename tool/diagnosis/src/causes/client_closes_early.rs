//! `client-closes-early`: the client closes before it reads the tickets that follow the handshake of TLS 1.3.
//!
//! Either it had left before they were sent; or its socket was closed with unread bytes in it, which its system answers with
//! a reset (RFC 2525, section 2.17), and before a response those bytes are tickets. A client that merely finished without a
//! response may have read them: then both are possible.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Version, WatchedConnection, WatchedEnd};

use super::{Cause, Rule};
use crate::client::case::{ClientCase, named, waited_until, wants_another_protocol};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    watched: Some(Rule { rank: 2, find: of_client }),
    ..page!("client-closes-early")
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    if case.offers_any() || !case.chances().is_empty() {
        return None;
    }
    let unread: Vec<(&WatchedConnection, WatchedEnd)> = case
        .completed()
        .filter(|(it, _, agreed)| agreed.version == Version::Tls13 && it.sessions_given > 0 && it.first_response.is_none())
        .filter(|(it, _, agreed)| waited_until(it, agreed).is_none())
        // Why these left is another matter.
        .filter(|(it, offer, _)| it.alert.is_none() && !wants_another_protocol(offer))
        .filter_map(|(it, _, _)| Some((it, it.end?.1)))
        .filter(|(_, end)| matches!(end, WatchedEnd::Reset | WatchedEnd::Fin | WatchedEnd::CloseNotify))
        .collect();
    // The last connection's tickets are of use to nobody.
    if unread.len() < 2 || case.completed().any(|(it, _, _)| it.first_response.is_some()) {
        return None;
    }
    // On a busy server a client that waits for a while may have left before tickets that were late.
    let resets = unread.iter().filter(|(it, end)| !it.left_before_tickets && *end == WatchedEnd::Reset).count();
    let left = unread.iter().filter(|(it, _)| it.left_before_tickets).count();
    let confidence = match (resets, left) {
        (2.., _) => Confidence::Certain,
        (0, 0) => Confidence::Possible,
        _ => Confidence::Likely,
    };
    let severity = if resets + left > 0 { Severity::Fault } else { Severity::Risk };
    let title = match resets + left {
        0 => format!("{} connections ended right after the handshake, perhaps before their tickets were read", unread.len()),
        _ => "The client closes before it reads its tickets".to_owned(),
    };
    let line = |(connection, end): &(&WatchedConnection, WatchedEnd)| {
        let how = match end {
            _ if connection.left_before_tickets => "it had closed before they arrived",
            WatchedEnd::Reset => "reset, so with its tickets unread",
            _ => "closed without a request",
        };
        format!("{}: {} tickets sent, {how}", named(connection), connection.sessions_given)
    };
    case.found_in(&CAUSE, severity, confidence, title, unread.iter().map(line))
}
