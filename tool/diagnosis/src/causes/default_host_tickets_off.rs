//! `default-host-tickets-off`: the name's own virtual host gives tickets, and the listener's default host, in which they are off,
//! is asked to open them.

use std::collections::BTreeSet;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Ticket, TicketKeyName};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::{Cause, ExaminedRule, Rule};
use crate::diagnose::examined::{Counts, Examined, by_outcome, evidence, mechanism};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["no-sni-at-all"],
    is_of_server: true,
    severities: &[Severity::Fault],
    confidences: &[Confidence::Likely],
    examined: Some(Rule { rank: 24, find: ExaminedRule::EachRun("no-sni-at-all", of_experiments) }),
    ..page!("default-host-tickets-off")
};

/// So many refusals are no accident.
const ENOUGH: usize = 4;

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let plain = examined.plain(run.asked);
    let with = Counts::of(plain.iter().copied());
    let names: BTreeSet<TicketKeyName> = tickets(&plain).map(|ticket| ticket.key_name).collect();
    let without: Vec<&ProbeRecord> = run.all().collect();
    let is_so = names.len() == 1
        && tickets(&plain).all(|ticket| ticket.holds_its_session())
        && tickets(&without).next().is_some()
        && tickets(&without).all(|ticket| !ticket.holds_its_session());
    if !is_so || with.refused < ENOUGH || with.refused < with.offered() || !examined.is_steady(run.asked) {
        return None;
    }
    let title = format!(
        "{}: tickets hold a session with server_name, and only name one without it: they are off in the default virtual host alone",
        mechanism(run.asked)
    );
    let refused = by_outcome(plain).map(|line| format!("With server_name, {line}"));
    let without = evidence(run).map(|line| format!("Without, {line}"));
    Some(CAUSE.finding(Severity::Fault, Confidence::Likely, title).because(refused.chain(without)))
}

fn tickets<'s>(seen: &'s [&ProbeRecord]) -> impl Iterator<Item = &'s Ticket> {
    seen.iter().filter_map(|seen| seen.observation.facts()).flat_map(|facts| facts.tickets.iter())
}
