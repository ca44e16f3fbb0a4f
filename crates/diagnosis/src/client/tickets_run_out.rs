//! `tickets-run-out`: the client opens more connections at once than it holds tickets.
//!
//! Each ticket of TLS 1.3 serves once, a server sends one or two a connection, and some clients keep only the latest. Told
//! apart from forgetting: the connection that offers nothing stands beside one that offered a session at the same moment.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Nanos, Version};

use super::case::{Chance, ClientCase, first_lines, named};

/// Connections that begin within this are begun at once.
const AT_ONCE: Nanos = Nanos(500_000_000);

pub(super) fn finding(case: &ClientCase<'_>) -> Option<Finding> {
    let empty_handed: Vec<(&Chance<'_>, usize)> =
        case.misses().map(|chance| (chance, siblings(case, chance))).filter(|(_, siblings)| *siblings > 0).collect();
    let without = empty_handed.len();
    let (_, most) = empty_handed.iter().max_by_key(|(_, siblings)| *siblings)?;
    let title = format!(
        "The client runs out of tickets: {without} connections started beside others that offered one, and had none left"
    );
    let line = |(chance, siblings): &(&Chance<'_>, usize)| {
        format!("{}: no session offered, beside {siblings} connections that offered one", named(chance.connection))
    };
    let mut evidence = first_lines(empty_handed.iter().map(line));
    evidence.push(format!("At most {most} of the concurrent connections could offer a session"));
    Some(case.found("tickets-run-out", Severity::Risk, Confidence::Likely, title, evidence))
}

/// How many connections to the same name, begun at the same time, offered a session and are none of those that could have
/// left one for this.
fn siblings(case: &ClientCase<'_>, chance: &Chance<'_>) -> usize {
    if !chance.offer.speaks(Version::Tls13) || case.open_beside(chance) == 0 {
        return 0;
    }
    let is_sibling = |number: u32, at: Nanos| {
        let apart = at.since(chance.offer.at).max(chance.offer.at.since(at));
        let is_source = chance.sources.iter().any(|source| source.number == number);
        apart <= AT_ONCE && !is_source && number != chance.connection.number
    };
    case.offers()
        .filter(|(_, offer)| offer.sni == chance.offer.sni && !offer.sessions.is_empty())
        .filter(|(it, offer)| is_sibling(it.number, offer.at) && overlap(it, chance.connection))
        .count()
}

fn overlap(one: &reprise_model::WatchedConnection, other: &reprise_model::WatchedConnection) -> bool {
    let ends_before = |one: &reprise_model::WatchedConnection, other: &reprise_model::WatchedConnection| {
        one.end.is_some_and(|(at, _)| at < other.arrived)
    };
    !ends_before(one, other) && !ends_before(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::example::{Example, found};

    #[test]
    fn connections_beside_others_that_offer_have_run_out() {
        let burst = Example::new().full().then(Example::new().resumed(0).full().full().at_once());
        let finding = found(finding, &burst).unwrap();
        assert_eq!((finding.severity, finding.confidence), (Severity::Risk, Confidence::Likely));
        assert!(finding.title.contains("2 connections"), "{}", finding.title);
        assert_eq!(found(crate::client::config_rebuilt::finding, &burst), None);
    }

    #[test]
    fn one_after_another_nothing_runs_out() {
        assert_eq!(found(finding, &Example::new().full().resumed(0).full()), None);
        assert_eq!(found(finding, &Example::new().full().full().at_once()), None);
    }
}
