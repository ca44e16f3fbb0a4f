//! `early-data-off`: TLS 1.3 tickets resume, and none allows early data. By design, and worth knowing: nothing else saves a whole
//! round trip.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, Kind, Version};

use super::examined::Examined;
use crate::figures::connections;

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let resumes = examined.always_resumes(Asked { tls: Version::Tls13, kind: Kind::Ticket });
    let facts = examined.full().filter_map(|seen| seen.observation.facts()).filter(|it| it.version == Version::Tls13);
    let giving: Vec<_> = facts.filter(|facts| facts.tickets.count > 0).collect();
    let allows = |bytes: Option<u32>| bytes.is_some_and(|bytes| bytes > 0);
    let allowed = giving.iter().any(|facts| facts.tickets.iter().any(|ticket| allows(ticket.max_early_data)));
    if !resumes || giving.is_empty() || allowed {
        return Vec::new();
    }
    let title = "TLS 1.3 tickets resume, and none allows early data";
    let evidence = [format!("Tickets on {}, max_early_data_size above 0 on none", connections(giving.len() as u64))];
    vec![Finding::new("early-data-off", Severity::Note, Confidence::Certain, title).because(evidence).by_design()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TLS13, only, ticket_of};
    use reprise_model::Ticket;

    #[test]
    fn tickets_without_early_data_are_a_note() {
        let giving = |max_early_data| {
            Scene::resuming(TLS13).facts(move |facts| facts.tickets.add(Ticket { max_early_data, ..ticket_of(7_200) }))
        };
        assert_eq!(only(findings, &giving(None)).unwrap().severity, Severity::Note);
        assert_eq!(only(findings, &giving(Some(16_384))), None);
        let refusing = Scene::refusing(TLS13).facts(|facts| facts.tickets.add(ticket_of(7_200)));
        assert_eq!(only(findings, &refusing), None, "there is worse to tell");
    }
}
