//! `no-ticket-on-resumption`: a full TLS 1.3 handshake brings tickets, and a resumed one none.
//!
//! A ticket serves once (RFC 8446 §C.4), so that a client runs out of them and begins anew with a full handshake. Servers that
//! have a ticket callback of their own in OpenSSL and do not ask it for another do this.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Facts, Kind, Nanos, Observation, Phase, Version};

use crate::figures::{connections, percent};
use crate::savings::{Saving, saving};
use crate::series::{Case, FEWEST};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    // A client may ask for none (RFC 9149).
    if case.figures.ticket_request.is_some_and(|request| request.resumption == 0) {
        return Vec::new();
    }
    let given = Given::of(case);
    if given.resumed == 0 || given.by_resumed > 0 || given.by_full == 0 { Vec::new() } else { vec![finding(case, given)] }
}

/// The tickets that came, over all connections whose response was no error: those of priming count as well.
#[derive(Clone, Copy, Default)]
struct Given {
    full: u64,
    by_full: u64,
    resumed: u64,
    by_resumed: u64,
}

impl Given {
    fn of(case: &Case<'_>) -> Self {
        let well = case.observations.iter().filter(|seen| seen.asked.tls == Version::Tls13 && seen.is_answered_well());
        well.filter_map(Observation::facts).fold(Self::default(), Self::and)
    }

    fn and(self, facts: &Facts) -> Self {
        let tickets = u64::from(facts.tickets.count);
        match facts.kind {
            Kind::Full => Self { full: self.full + 1, by_full: self.by_full + tickets, ..self },
            Kind::Ticket | Kind::Early => Self { resumed: self.resumed + 1, by_resumed: self.by_resumed + tickets, ..self },
            // An external PSK is offered without a ticket.
            Kind::Id | Kind::Psk => self,
        }
    }

    /// Of a client's connections one after the other, the share that is full.
    fn share_of_full(self) -> f64 {
        let (full, tickets) = (self.full as f64, self.by_full as f64);
        full / (full + tickets)
    }
}

fn finding(case: &Case<'_>, given: Given) -> Finding {
    let confidence = if given.resumed < FEWEST { Confidence::Possible } else { Confidence::Likely };
    let each = given.by_full as f64 / given.full as f64;
    let evidence = [
        format!(
            "No ticket on any of {} that resumed; {} full ones brought {}",
            connections(given.resumed),
            given.full,
            given.by_full
        ),
        format!(
            "A client that uses each ticket once, as it should, gets {each:.1} per full handshake: {} of its connections \
                are full",
            percent(given.share_of_full())
        ),
    ];
    let title = "A resumed TLS 1.3 connection brings no new ticket: clients run out of them";
    // Two a full handshake are what OpenSSL gives: then two connections of three resume, and most software has no switch for it.
    let severity = if each < 2.0 { Severity::Risk } else { Severity::Note };
    let finding = case.found("no-ticket-on-resumption", severity, confidence, title).because(evidence).by_design();
    let (cost_ns, cost_cpu) = (average_cost(case, given), case.cpu_cost(Version::Tls13));
    Finding { cost_ns, cost_cpu, ..finding }
}

/// What the full handshakes that this makes cost such a client's connection on average, where it is shown that resuming saves
/// anything.
fn average_cost(case: &Case<'_>, given: Given) -> Option<Nanos> {
    let run = case.conclusive_run(Version::Tls13, Kind::Ticket)?;
    let saved = saving(case.figures, run, Phase::Tls).filter(Saving::is_shown)?.saved();
    Some(Nanos((saved.0 as f64 * given.share_of_full()).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only, ticket};
    use reprise_model::document::TicketRequest;

    fn gives_two(it: &mut Facts) {
        it.tickets.add(ticket(None));
        it.tickets.add(ticket(None));
    }

    fn full() -> Example {
        Example::new().run("1.3", Kind::Full, 900).facts(gives_two)
    }

    #[test]
    fn a_client_runs_out_of_tickets_and_its_cost_is_told() {
        let finding = only(findings, full().run("1.3", Kind::Ticket, 300)).unwrap();
        assert_eq!((finding.severity, finding.confidence), (Severity::Note, Confidence::Likely));
        assert_eq!(
            finding.evidence,
            [
                "No ticket on any of 100 connections that resumed; 100 full ones brought 200",
                "A client that uses each ticket once, as it should, gets 2.0 per full handshake: 33 % of its connections \
                    are full"
            ]
        );
        assert_eq!(finding.cost_ns, Some(Nanos(200_000)), "a third of 600 µs");
    }

    #[test]
    fn with_one_ticket_every_other_connection_is_full() {
        let one = Example::new().run("1.3", Kind::Full, 900).facts(|it| it.tickets.add(ticket(None)));
        assert_eq!(only(findings, one.run("1.3", Kind::Ticket, 300)).unwrap().severity, Severity::Risk);
    }

    #[test]
    fn a_server_that_renews_tickets_has_no_such_finding() {
        assert_eq!(only(findings, full().run("1.3", Kind::Ticket, 300).facts(gives_two)), None);
        let some = full().run("1.3", Kind::Ticket, 300).first(1, |it| gives_two(it.outcome.as_mut().unwrap()));
        assert_eq!(only(findings, some), None);
    }

    #[test]
    fn tls12_needs_no_new_ticket() {
        let tls12 = Example::new().run("1.2", Kind::Full, 900).facts(gives_two).run("1.2", Kind::Ticket, 300);
        assert_eq!(only(findings, tls12), None);
    }

    #[test]
    fn a_client_that_asked_for_no_ticket_is_not_told() {
        let example = full().run("1.3", Kind::Ticket, 300);
        let mut figures = full().run("1.3", Kind::Ticket, 300).document();
        figures.ticket_request = Some(TicketRequest { new_session: 2, resumption: 0 });
        assert!(findings(&Case { figures: &figures, ..example.case() }).is_empty());
    }

    #[test]
    fn refused_tickets_are_another_cause() {
        assert_eq!(only(findings, full().refused("1.3", Kind::Ticket, 100)), None);
        let errors = full().run("1.3", Kind::Ticket, 300).all(|it| it.http_status = Some(503));
        assert_eq!(only(findings, errors), None);
    }
}
