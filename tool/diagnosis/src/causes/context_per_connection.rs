//! `context-per-connection`: the server makes new keys, or a new cache, for each connection.

use std::collections::BTreeSet;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, Kind, Ticket, TicketKeyName};

use super::{Cause, MeasuredRule, Rule, client_psk_mode};
use crate::series::{FEWEST, KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["resume", "history"],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 25, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..page!("context-per-connection")
};

fn of_measurement(case: &MeasuredCase<'_>, tickets: &KindSeries<'_>) -> Option<Finding> {
    let names = names_of_unlike_keys(case, tickets)?;
    let title = format!("{} tickets arrive and are never accepted: each has a key name of its own", tickets.asked.tls);
    let confidence = tickets.confidence_of_refusal(case).max(Confidence::Likely);
    let named = format!("{names} tickets came, under {names} key names");
    let finding = case.found(&CAUSE, Severity::Fault, confidence, title);
    // The cache is as new as the keys are.
    let series = case.conclusive_series();
    let ids = series.iter().find(|it| it.asked == Asked { kind: Kind::Id, ..tickets.asked });
    let ids = ids.filter(|ids| ids.is_never_accepted(case));
    let also = ids.map(|ids| format!("Nor is a session ID, whose cache is as new: {}", ids.refusal(case)));
    let mechanisms = std::iter::once(tickets.asked).chain(ids.map(|ids| ids.asked));
    Some(finding.because([tickets.refusal(case), named].into_iter().chain(also)).under(mechanisms))
}

/// Whether that is why these tickets are never accepted.
pub(super) fn is_shown(case: &MeasuredCase<'_>, tickets: &KindSeries<'_>) -> bool {
    names_of_unlike_keys(case, tickets).is_some()
}

/// How many tickets came, where none is accepted and no two have the same key name.
fn names_of_unlike_keys(case: &MeasuredCase<'_>, tickets: &KindSeries<'_>) -> Option<u64> {
    let is_meant = tickets.asked.kind == Kind::Ticket && tickets.is_never_accepted(case);
    if !is_meant || client_psk_mode::is_the_cause(case) {
        return None;
    }
    let of_version = case.observations.iter().filter(|seen| seen.asked.tls == tickets.asked.tls);
    let given = || of_version.clone().filter_map(|seen| seen.facts()?.tickets.iter().next());
    let names: BTreeSet<TicketKeyName> = given().map(|ticket| ticket.key_name).collect();
    let count = given().count() as u64;
    (count >= FEWEST && names.len() as u64 == count && given().all(Ticket::holds_its_session)).then_some(count)
}
