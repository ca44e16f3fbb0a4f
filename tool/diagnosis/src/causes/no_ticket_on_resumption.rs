//! `no-ticket-on-resumption`: a full TLS 1.3 handshake brings tickets, and a resumed one none.
//!
//! A ticket serves once (RFC 9846 §C.4), so that a client runs out of them and begins anew with a full handshake. Servers that
//! have a ticket callback of their own in OpenSSL and do not ask it for another do this.

use reprise_model::document::{Confidence, Finding, Remedy, Severity};
use reprise_model::{Facts, Kind, Nanos, Observation, Phase, Version, WatchedConnection};

use super::{Cause, MeasuredRule, Rule};
use crate::client::case::{Chance, ClientCase, named};
use crate::figures::{connections, percent};
use crate::savings::{Saving, saving};
use crate::series::{FEWEST, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 6, find: MeasuredRule::Once(of_measurement) }),
    watched: Some(Rule { rank: 14, find: of_client }),
    ..page!("no-ticket-on-resumption")
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    // A client may ask for none (RFC 9149).
    if case.figures.ticket_request.is_some_and(|request| request.resumption == 0) {
        return None;
    }
    let given = Given::of(case);
    (given.resumed > 0 && given.by_resumed == 0 && given.by_full > 0).then(|| finding(case, given))
}

/// A client that forgets a TLS 1.2 session once it has offered it: it serves any number of times, and most servers give no other then.
fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let is_used = |source: &&WatchedConnection| {
        case.is_offered_later(source) && source.agreed().is_some_and(|agreed| agreed.version == Version::Tls12)
    };
    let missed: Vec<&Chance<'_>> = case.misses().filter(|chance| chance.sources.iter().all(is_used)).collect();
    let confidence = if missed.len() > 1 { Confidence::Likely } else { Confidence::Possible };
    let line = |chance: &&Chance<'_>| {
        let from = chance.latest().map_or_else(String::new, named);
        format!("{}: no session offered, and the one from {from} had been offered once", named(chance.connection))
    };
    let title = "The client offers a TLS 1.2 session once, and most servers give no other on a connection that resumes";
    let remedy =
        Remedy::general("Keep a TLS 1.2 session after it was offered: it serves any number of times until it expires");
    let found = case.found_in(&CAUSE, Severity::Risk, confidence, title, missed.iter().map(line))?;
    Some(found.fixed_by(vec![remedy]))
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
    fn of(case: &MeasuredCase<'_>) -> Self {
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

fn finding(case: &MeasuredCase<'_>, given: Given) -> Finding {
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
    let finding = case.found(&CAUSE, severity, confidence, title).because(evidence).by_design();
    let (cost_ns, cost_cpu) = (average_cost(case, given), case.cpu_cost(Version::Tls13));
    Finding { cost_ns, cost_cpu, ..finding }
}

/// What the full handshakes that this makes cost such a client's connection on average, where it is shown that resuming saves
/// anything.
fn average_cost(case: &MeasuredCase<'_>, given: Given) -> Option<Nanos> {
    let run = case.conclusive_run(Version::Tls13, Kind::Ticket)?;
    let saved = saving(case.figures, run, Phase::Tls).filter(Saving::is_shown)?.saved();
    Some(Nanos((saved.0 as f64 * given.share_of_full()).round() as u64))
}
