//! `early-data-off`: tickets arrive, and none allows early data.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Facts, Kind};

use crate::figures::connections;
use crate::series::{Case, Series};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let all = case.conclusive_series();
    let allows_none = |early: &&Series<'_>| allowed(early) == 0 && early.with(gives_ticket) > 0;
    all.iter()
        .filter(|series| series.asked.kind == Kind::Early)
        .filter(allows_none)
        .map(|early| finding(case, early))
        .collect()
}

/// How many were given a ticket that allows early data, be it too little for the request.
fn allowed(early: &Series<'_>) -> usize {
    early.completed.iter().filter(|(observation, _)| observation.max_early_data().is_some()).count()
}

fn gives_ticket(facts: &Facts) -> bool {
    facts.tickets.count > 0
}

fn finding(case: &Case<'_>, early: &Series<'_>) -> Finding {
    let title = format!("{} tickets arrive, but none allows early data", early.asked.tls);
    let tickets = connections(early.with(gives_ticket));
    case.found("early-data-off", Severity::Note, Confidence::Certain, title)
        .because([format!("Tickets on {tickets}, max_early_data_size above 0 on {}", allowed(early))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only, ticket};

    fn early() -> Example {
        Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Early, 20).of_which_full(100)
    }

    #[test]
    fn tickets_without_the_extension_are_counted() {
        let finding = only(findings, early().facts(|it| it.tickets.add(ticket(None)))).unwrap();
        assert_eq!(finding.evidence, ["Tickets on 100 connections, max_early_data_size above 0 on 0"]);
        assert_eq!(finding.steps(Some("nginx"))[1], "nginx: ssl_early_data on; (from 1.15.3)");
    }

    #[test]
    fn a_ticket_that_allows_too_little_allows_it() {
        assert_eq!(only(findings, early().facts(|it| it.tickets.add(ticket(Some(64))))), None);
    }

    #[test]
    fn a_server_without_tickets_is_not_accused_of_tickets() {
        assert_eq!(only(findings, early()), None);
    }

    #[test]
    fn who_asked_for_no_early_data_hears_nothing_of_it() {
        let tickets = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300);
        assert_eq!(only(findings, tickets.facts(|it| it.tickets.add(ticket(None)))), None);
    }
}
