//! `early-data-stateful`: tickets allow early data and serve once: the server keeps each session itself, against replay, and the
//! node that gave it alone knows it.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};

use super::examined::Examined;
use super::single_use;

/// A ticket that holds its session has at least a key name, a nonce, the secret and a tag; one that only names it is shorter.
const STATELESS: u16 = 100;

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let is_single = single_use::shown(examined).any(|(run, _)| run.asked.tls == Version::Tls13);
    let facts = examined.full().filter_map(|seen| seen.observation.facts()).filter(|it| it.version == Version::Tls13);
    let tickets: Vec<_> = facts.flat_map(|facts| facts.tickets.iter().copied().collect::<Vec<_>>()).collect();
    let allowing = tickets.iter().filter(|ticket| ticket.max_early_data.is_some_and(|bytes| bytes > 0)).count();
    let longest = tickets.iter().map(|ticket| ticket.length).max().unwrap_or_default();
    if !is_single || allowing == 0 || allowing < tickets.len() || longest >= STATELESS {
        return Vec::new();
    }
    let title = "Early data makes TLS 1.3 tickets stateful: only the process that issued one accepts it";
    let evidence = [format!("{allowing} tickets of at most {longest} bytes, all of which allow early data and serve once")];
    vec![Finding::new("early-data-stateful", Severity::Note, Confidence::Likely, title).because(evidence).by_design()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS13, only, ticket_of};
    use reprise_model::{Kind, Ticket};

    fn scene(length: u16, again: Kind) -> Scene {
        let scene = Scene::resuming(TLS13).run("second-use", TLS13, &[Kind::Full, TICKET, again, again]);
        scene.facts(|facts| facts.tickets.add(Ticket { length, max_early_data: Some(16_384), ..ticket_of(7_200) }))
    }

    #[test]
    fn short_tickets_that_serve_once_with_early_data_are_stateful() {
        assert!(only(findings, &scene(32, Kind::Full)).is_some());
        assert_eq!(only(findings, &scene(208, Kind::Full)), None);
        assert_eq!(only(findings, &scene(32, TICKET)), None);
    }
}
