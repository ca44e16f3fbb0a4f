//! `client-never-offers`: the client holds sessions and never offers one.
//!
//! Only where it does not even ask for sessions does the wire say why. Otherwise a program that never hands its library a
//! session looks like one that builds a new configuration for each connection: both are said, the likelier first.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};

use super::case::{ClientCase, first_lines, named, outcome};
use super::software::{GO, Habit, habit};

pub(super) fn finding(case: &ClientCase<'_>) -> Option<Finding> {
    asks_for_none(case).or_else(|| offers_none(case))
}

/// Whether it could have offered a session, and never did, though it asks for them.
pub(super) fn is_silent(case: &ClientCase<'_>) -> bool {
    case.misses().next().is_some() && !case.offers_any() && asks_for_none(case).is_none()
}

/// RFC 8446, section 4.2.9: without `psk_key_exchange_modes` a server sends no ticket.
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
    let confidence = match (tls12, tls13) {
        (0, 0) => return None,
        (0, _) => Confidence::Certain,
        _ => Confidence::Likely,
    };
    let severity = if tls12 + tls13 > 1 { Severity::Fault } else { Severity::Note };
    let title = "The client does not ask for sessions, so no server issues any";
    let line = |what: &str, count: u32| (count > 0).then(|| format!("{what} in 0 of {count} ClientHellos"));
    let evidence = [
        line("psk_key_exchange_modes (RFC 8446, section 4.2.9)", tls13),
        line("session_ticket (RFC 5077, section 3.2)", tls12),
    ];
    Some(case.found("client-never-offers", severity, confidence, title, evidence.into_iter().flatten().collect()))
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
    evidence.push(
        "A new configuration for each connection (client-config-rebuilt) looks the same on the wire. To distinguish them, \
            make two connections from the same configuration object; if the second still offers nothing, it is this"
            .to_owned(),
    );
    Some(case.found("client-never-offers", Severity::Fault, confidence, title, evidence))
}

/// Each connection that could have, and where its session came from.
pub(super) fn evidence(case: &ClientCase<'_>) -> Vec<String> {
    let line = |chance: &super::case::Chance<'_>| {
        let from = chance.latest().map_or_else(String::new, named);
        format!(
            "{}: no session offered, {}, though it held one from {from}",
            named(chance.connection),
            outcome(chance.connection)
        )
    };
    first_lines(case.misses().map(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::example::{Example, found};

    #[test]
    fn two_connections_that_offer_nothing_are_one_possibility() {
        let silent = Example::new().full().full();
        let finding = found(finding, &silent).unwrap();
        assert_eq!((finding.severity, finding.confidence), (Severity::Fault, Confidence::Possible));
        assert!(finding.evidence[0].contains("no session offered"), "{:?}", finding.evidence);
    }

    #[test]
    fn a_library_that_waits_to_be_told_is_the_likelier_cause() {
        let python = Example::new().full().full().full().agent("Python-urllib/3.11");
        assert_eq!(found(finding, &python).unwrap().confidence, Confidence::Likely);
    }

    #[test]
    fn without_psk_modes_the_wire_says_it() {
        let mute = || Example::new().full().full().offers(|offer| offer.psk_modes = None).gives(0);
        let finding_of_two = found(finding, &mute()).unwrap();
        assert_eq!(finding_of_two.confidence, Confidence::Certain);
        let once = Example::new().full().offers(|offer| offer.psk_modes = None).gives(0);
        assert_eq!(found(finding, &once).unwrap().severity, Severity::Note);
    }

    #[test]
    fn whoever_offers_or_cannot_yet_is_not_accused() {
        assert_eq!(found(finding, &Example::new().full()), None);
        assert_eq!(found(finding, &Example::new().full().resumed(0)), None);
        assert_eq!(found(finding, &Example::new().full().full().at_once()), None);
    }
}
