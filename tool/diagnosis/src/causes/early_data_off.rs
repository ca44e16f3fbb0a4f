//! `early-data-off`: TLS 1.3 tickets arrive, and none allows early data. By design, and worth knowing: nothing else saves a whole
//! round trip.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, Facts, Kind, Version};

use super::{Cause, ExaminedRule, MeasuredRule, Rule};
use crate::diagnose::examined::Examined;
use crate::figures::connections;
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["early-data"],
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 16, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    examined: Some(Rule { rank: 3, find: ExaminedRule::Once(of_experiments) }),
    ..page!("early-data-off")
};

fn of_measurement(case: &MeasuredCase<'_>, early: &KindSeries<'_>) -> Option<Finding> {
    // Be it too little for the request.
    let allowed = early.completed.iter().filter(|(observation, _)| observation.max_early_data().is_some()).count();
    let gives_ticket = |facts: &Facts| facts.tickets.count > 0;
    if !early.is_early_data_with(gives_ticket) || allowed > 0 {
        return None;
    }
    let title = format!("{} tickets arrive, but none allows early data", early.asked.tls);
    let evidence = format!("Tickets on {}, max_early_data_size above 0 on {allowed}", connections(early.with(gives_ticket)));
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title).because([evidence]))
}

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    let resumes = examined.always_resumes(Asked { tls: Version::Tls13, kind: Kind::Ticket });
    let facts = examined.full().filter_map(|seen| seen.observation.facts()).filter(|it| it.version == Version::Tls13);
    let giving: Vec<_> = facts.filter(|facts| facts.tickets.count > 0).collect();
    let allows = |bytes: Option<u32>| bytes.is_some_and(|bytes| bytes > 0);
    let allowed = giving.iter().any(|facts| facts.tickets.iter().any(|ticket| allows(ticket.max_early_data)));
    if !resumes || giving.is_empty() || allowed {
        return None;
    }
    let title = "TLS 1.3 tickets resume, and none allows early data";
    let evidence = [format!("Tickets on {}, max_early_data_size above 0 on none", connections(giving.len() as u64))];
    Some(CAUSE.finding(Severity::Note, Confidence::Certain, title).because(evidence).by_design())
}
