//! `client-reuses-ticket`: the client offers one ticket of TLS 1.3 again and again.
//!
//! RFC 9846 §C.4: clients should not. Servers that use a ticket once refuse it, and whoever watches the network can
//! join the connections.

use std::collections::BTreeMap;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{GivenSession, Version, WatchedConnection};

use super::{Cause, Rule};
use crate::client::case::{ClientCase, first_lines, named, outcome};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain],
    watched: Some(Rule { rank: 5, find: of_client }),
    ..page!("client-reuses-ticket")
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
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
    Some(case.found(&CAUSE, Severity::Risk, Confidence::Certain, title, evidence))
}
