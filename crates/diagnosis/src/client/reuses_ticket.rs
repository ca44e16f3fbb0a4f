//! `client-reuses-ticket`: the client offers one ticket of TLS 1.3 again and again.
//!
//! RFC 8446, appendix C.4: clients should not. Servers that use a ticket once refuse it, and whoever watches the network can
//! join the connections.

use std::collections::BTreeMap;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{GivenSession, Version, WatchedConnection};

use super::case::{ClientCase, first_lines, named, outcome};

pub(super) fn finding(case: &ClientCase<'_>) -> Option<Finding> {
    let mut uses: BTreeMap<GivenSession, Vec<&WatchedConnection>> = BTreeMap::new();
    // A client may try again with the ticket of an attempt that failed.
    let completed = case.offered().filter(|it| it.connection.agreed().is_some() && it.session.version == Version::Tls13);
    for offered in completed {
        if let Some(given) = offered.session.given {
            uses.entry(given).or_default().push(offered.connection);
        }
    }
    let again = || uses.values().filter(|connections| connections.len() > 1);
    let tickets = again().count();
    if tickets == 0 {
        return None;
    }
    let offers: usize = again().map(Vec::len).sum();
    let refused = again().flatten().filter(|it| outcome(it) != "resumed").count();
    let title = match tickets {
        1 => format!("The client offers one ticket {offers} times: servers that use a ticket once refuse it"),
        _ => format!("The client offers {tickets} tickets {offers} times: servers that use a ticket once refuse them"),
    };
    let lines = again().flatten().map(|connection| format!("{}: {}", named(connection), outcome(connection)));
    let mut evidence = first_lines(lines);
    evidence.push(format!("This server takes each ticket once: {refused} of the {offers} offers did not resume"));
    Some(case.found("client-reuses-ticket", Severity::Risk, Confidence::Certain, title, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::example::{Example, found};

    #[test]
    fn a_second_offer_of_one_ticket_is_told() {
        let twice = Example::new().full().resumed(0).refused(0);
        let finding = found(finding, &twice).unwrap();
        assert!(finding.title.starts_with("The client offers one ticket 2 times"), "{}", finding.title);
        assert!(finding.evidence.last().unwrap().contains("1 of the 2"), "{:?}", finding.evidence);
    }

    #[test]
    fn tls12_sessions_may_be_offered_again() {
        let twice = Example::new().full().resumed(0).resumed(0).tls12();
        assert_eq!(found(finding, &twice), None);
        assert_eq!(found(finding, &Example::new().full().resumed(0).resumed(1)), None);
    }
}
