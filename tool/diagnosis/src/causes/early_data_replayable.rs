//! `early-data-replayable`: early data is accepted, and whoever records it can send it again.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{EarlyData, Facts, Observation};
use reprise_probe::crossing::Crossed;
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord, Step, Variation};

use super::{Cause, ExaminedRule, MeasuredRule, Rule};
use crate::diagnose::examined::{Examined, cite};
use crate::fleet::{FleetCase, FleetFinding};
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["early-data"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 21, find: MeasuredRule::EachSeries(of_measurement) }),
    fleet: Some(Rule { rank: 11, find: of_fleet }),
    examined: Some(Rule { rank: 40, find: ExaminedRule::EachRun("early-data", of_experiment) }),
    ..page!("early-data-replayable")
};

/// The same early data was accepted twice.
fn of_experiment(_: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let accepted = |seen: &&ProbeRecord| {
        let facts = seen.observation.facts();
        facts.is_some_and(|facts| facts.early_data == Some(EarlyData::Accepted)) && seen.observation.is_answered_well()
    };
    let origin = |seen: &ProbeRecord| seen.observation.offered.and_then(|offered| offered.origin);
    let again = run.all().filter(|seen| seen.step == Step::Replay).find(accepted)?;
    let first = run.all().filter(|seen| seen.step == Step::Early(Variation::Plain)).filter(accepted);
    let first = first.filter(|seen| origin(seen).is_some()).find(|seen| origin(seen) == origin(again))?;
    let title = "Early data is accepted twice with the same ticket: an attacker can replay such a request";
    let evidence =
        [cite(first), cite(again), "Both were answered: the server keeps no record of what came early".to_owned()];
    Some(CAUSE.finding(Severity::Risk, Confidence::Certain, title).because(evidence))
}

/// One node has taken what another takes again.
fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let taken = || {
        let is_taken = |seen: &Observation| seen.facts().is_some_and(|facts| facts.early_data == Some(EarlyData::Accepted));
        case.examination.crossed.iter().filter(move |it| is_taken(&it.observation) && it.observation.is_answered_well())
    };
    let origin = |it: &Crossed| it.observation.offered.and_then(|offered| offered.origin);
    let pairs = taken().flat_map(|first| taken().map(move |again| (first, again)));
    let is_replay = |(first, again): &(&Crossed, &Crossed)| {
        first.observation.index < again.observation.index && first.to != again.to && origin(first) == origin(again)
    };
    let (first, again) = pairs.into_iter().find(is_replay)?;
    let nodes = vec![first.to, again.to];
    let title = format!(
        "Early data that {} has taken is taken again by {}: an attacker can replay such a request",
        case.list(&[first.to]),
        case.list(&[again.to])
    );
    let evidence = "With the same ticket, and both were answered: no node knows what came to another".to_owned();
    let finding = CAUSE.finding(Severity::Risk, Confidence::Certain, title).because([evidence]);
    Some(FleetFinding { finding, nodes, reason: "early data" })
}

fn of_measurement(case: &MeasuredCase<'_>, early: &KindSeries<'_>) -> Option<Finding> {
    let is_accepted = |facts: &Facts| facts.early_data == Some(EarlyData::Accepted);
    if !early.is_early_data_with(is_accepted) {
        return None;
    }
    let title = "Early data is accepted: an attacker can replay such a request";
    let evidence = [
        format!("Accepted on {} of {} that sent it", early.with(is_accepted), early.sent_early_data()),
        "RFC 9846, section 8: nothing in TLS prevents a replay between connections, and section 2.3: early data has no \
             forward secrecy"
            .to_owned(),
    ];
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title).because(evidence))
}
