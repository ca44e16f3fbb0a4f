//! `id-cache-per-process`: session IDs are accepted now and then, as by processes or nodes with a cache each.

use itertools::Itertools;
use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Severity};
use reprise_model::{Asked, Kind, Version};
use reprise_probe::diagnose::Judgement;

use super::parted_title::parted_title;
use super::{Cause, JudgedRule, Rule, unclean_close_evicts};
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    explained_by: &[&unclean_close_evicts::CAUSE],
    separated_by: &["resume", "history", "burst", "resume-control"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::NotShared, |_| Severity::Risk, title).under(&[Kind::Id])),
    fleet: Some(Rule { rank: 2, find: of_fleet }),
    ..page!("id-cache-per-process")
};

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let [ids, tickets] = [Kind::Id, Kind::Ticket].map(|kind| Asked { tls: Version::Tls12, kind });
    let parted = case.parted_pairs(ids);
    let pair = parted.first()?;
    let covers = |(one, other): &(usize, usize)| case.relation(tickets, *one, *other) == crate::fleet::Relation::Accepts;
    let severity = if parted.iter().all(covers) { Severity::Note } else { Severity::Risk };
    let confidence = if case.is_one_name { Confidence::Likely } else { Confidence::Possible };
    let nodes: Vec<usize> = parted.iter().flat_map(|(one, other)| [*one, *other]).sorted_unstable().dedup().collect();
    let title = format!("1.2 session IDs of {} are good at their own node alone", case.list(&nodes));
    let evidence = [*pair, (pair.1, pair.0)].map(|pair| case.cite(ids, pair));
    let finding = CAUSE.finding(severity, confidence, title).because(evidence);
    Some(FleetFinding { finding, nodes, reason: "a session cache of its own" })
}

fn title(judgement: &Judgement) -> String {
    let sessions = match judgement.asked.kind {
        Kind::Ticket => "tickets that name a session in a cache",
        _ => "session IDs",
    };
    parted_title(judgement, sessions)
}
