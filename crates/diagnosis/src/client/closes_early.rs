//! `client-closes-early`: the client closes before it reads the tickets that follow the handshake of TLS 1.3.
//!
//! Either it had left before they were sent; or its socket was closed with unread bytes in it, which its system answers with
//! a reset (RFC 2525, section 2.17), and before a response those bytes are tickets. A client that merely finished without a
//! response may have read them: then both are possible.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Version, WatchedConnection, WatchedEnd};

use super::case::{ClientCase, named, waited_until};

pub(super) fn finding(case: &ClientCase<'_>) -> Option<Finding> {
    if case.offers_any() || !case.chances().is_empty() {
        return None;
    }
    let unread: Vec<(&WatchedConnection, WatchedEnd)> = case
        .completed()
        .filter(|(it, _, agreed)| agreed.version == Version::Tls13 && it.sessions_given > 0 && it.first_response.is_none())
        .filter(|(it, _, agreed)| waited_until(it, agreed).is_none())
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
    case.found_in("client-closes-early", severity, confidence, title, unread.iter().map(line))
}

#[cfg(test)]
mod tests {
    use reprise_model::Nanos;

    use super::*;
    use crate::client::example::{Example, found};

    fn ended(end: WatchedEnd) -> Example {
        Example::new().full().full().full().unanswered(end)
    }

    #[test]
    fn resets_before_any_response_leave_tickets_unread() {
        let finding_of_resets = found(finding, &ended(WatchedEnd::Reset)).unwrap();
        assert_eq!((finding_of_resets.severity, finding_of_resets.confidence), (Severity::Fault, Confidence::Certain));
    }

    #[test]
    fn an_orderly_end_without_a_request_is_only_a_possibility() {
        assert_eq!(found(finding, &ended(WatchedEnd::CloseNotify)).unwrap().confidence, Confidence::Possible);
    }

    #[test]
    fn a_client_that_waits_to_be_greeted_has_read_its_tickets() {
        let waiting = ended(WatchedEnd::CloseNotify).ended_after(Nanos(700_000_000));
        assert_eq!(found(finding, &waiting), None);
        let never_offers = found(crate::client::never_offers::finding, &waiting).unwrap();
        assert_eq!(never_offers.id, "client-never-offers");
    }

    #[test]
    fn one_connection_or_an_answer_accuses_nobody() {
        assert_eq!(found(finding, &Example::new().full().unanswered(WatchedEnd::Reset)), None);
        assert_eq!(found(finding, &Example::new().full().full()), None);
    }
}
