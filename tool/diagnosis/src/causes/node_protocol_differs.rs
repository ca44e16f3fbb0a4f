//! `node-protocol-differs`: full handshakes of one version choose different cipher suites or groups, as nodes of different
//! configuration do.
//!
//! `node-protocol-differs`: a version is spoken on some connections and refused on others, as by nodes of different configuration.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{FaultName, Version};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};
use reprise_wire::{CipherSuite, NamedGroup};

use reprise_probe::fleet::MECHANISMS;

use super::{Cause, ExaminedRule, MeasuredRule, Rule};
use crate::diagnose::examined::{Examined, cite};
use crate::figures::connections;
use crate::fleet::{FleetCase, FleetFinding};
use crate::series::{MeasuredCase, differing};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 8, find: MeasuredRule::EachVersion(of_measurement) }),
    examined: Some(Rule { rank: 11, find: ExaminedRule::EachVersion(of_experiments) }),
    fleet: Some(Rule { rank: 9, find: of_fleet }),
    ..page!("node-protocol-differs")
};

fn of_measurement(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let full = case.full_handshakes(version);
    let ciphers = differing(full.iter().map(|facts| CipherSuite(facts.cipher).to_string()));
    let groups = differing(full.iter().filter_map(|facts| facts.group).map(|group| NamedGroup(group).to_string()));
    case.found_unlike(&CAUSE, version, "cipher suite or group differ", [ciphers, groups])
}

/// RFC 9846 §6.2: protocol_version.
pub(super) const REFUSES: FaultName = FaultName::Alert(70);

fn of_experiments(examined: &Examined<'_>, version: Version) -> Option<Finding> {
    let runs = examined.examination.runs.iter().filter(|run| run.asked.tls == version);
    let seen: Vec<&ProbeRecord> = runs.clone().flat_map(ExperimentRun::all).collect();
    // An alert that only offers meet is of the offer: `offer-breaks-connection`.
    let full: Vec<&ProbeRecord> = seen.into_iter().filter(|seen| seen.observation.offered.is_none()).collect();
    let refused: Vec<&ProbeRecord> = full.iter().copied().filter(|seen| is_refused(seen)).collect();
    let completed = full.iter().filter(|seen| seen.observation.outcome.is_ok()).count();
    if refused.is_empty() || completed == 0 {
        return of_early_data(runs, version);
    }
    let title = format!("{version} is spoken on some connections and refused on others: nodes of different configuration");
    let counted = format!("Of {}, {completed} completed and {} were refused", connections(full.len() as u64), refused.len());
    let evidence = std::iter::once(counted).chain(refused.into_iter().take(2).map(cite));
    Some(CAUSE.finding(Severity::Risk, Confidence::Likely, title).because(evidence))
}

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let versions =
        case.unlike_the_most(|node| node.is_reached().then(|| node.suites.keys().copied().collect::<Vec<Version>>()));
    if let Some(like) = versions.most.first() {
        let spoken = |node: usize| {
            let all = case.nodes.get(node).into_iter().flat_map(|it| it.suites.keys()).map(Version::to_string);
            all.collect::<Vec<_>>().join(" and ")
        };
        let title = format!("{} speaks other versions than the other nodes", case.list(&versions.nodes));
        let each =
            versions.nodes.iter().take(3).chain([like]).map(|node| format!("{}: {}", case.list(&[*node]), spoken(*node)));
        let finding = CAUSE.finding(Severity::Risk, Confidence::Likely, title).because(each.collect::<Vec<_>>());
        return Some(FleetFinding { finding, nodes: versions.nodes, reason: "other versions" });
    }
    let suites = case.unlike_the_most(|node| node.is_reached().then(|| node.suites.clone()));
    let like = suites.most.first()?;
    let is_refused = |pair| MECHANISMS.into_iter().any(|asked| case.refuses_under_one_key(asked, pair));
    let severity = if suites.pairs().any(is_refused) { Severity::Risk } else { Severity::Note };
    let chosen = |node: usize| {
        let all = case.nodes.get(node).into_iter().flat_map(|it| it.suites.values().flatten());
        all.map(|suite| CipherSuite(*suite).to_string()).collect::<Vec<_>>().join(", ")
    };
    let title = format!("{} chooses other cipher suites than the other nodes", case.list(&suites.nodes));
    let each = suites.nodes.iter().take(3).chain([like]).map(|node| format!("{}: {}", case.list(&[*node]), chosen(*node)));
    let finding = CAUSE.finding(severity, Confidence::Likely, title).because(each.collect::<Vec<_>>());
    Some(FleetFinding { finding, nodes: suites.nodes, reason: "other cipher suites" })
}
fn is_refused(seen: &ProbeRecord) -> bool {
    seen.observation.outcome == Err(REFUSES)
}

/// Tickets of one version that allow early data on some connections, and on others do not.
fn of_early_data<'r>(runs: impl Iterator<Item = &'r ExperimentRun>, version: Version) -> Option<Finding> {
    let plain = runs.filter(|run| run.experiment.is_plain() || run.experiment.is_chosen()).flat_map(|run| &run.seen);
    let giving = plain.filter(|seen| seen.observation.facts().is_some_and(|facts| facts.tickets.count > 0));
    let (allowing, others): (Vec<&ProbeRecord>, Vec<&ProbeRecord>) =
        giving.partition(|seen| seen.observation.max_early_data().is_some());
    // A server that forgets to allow it once is no node.
    if allowing.len() < ENOUGH || others.len() < ENOUGH {
        return None;
    }
    let title = format!("{version} tickets allow early data on some connections only: nodes of different configuration");
    let counted = format!("Allowed on {} of {}", allowing.len(), connections((allowing.len() + others.len()) as u64));
    Some(CAUSE.finding(Severity::Risk, Confidence::Likely, title).because([counted]))
}

/// So many connections of each sort are no accident.
const ENOUGH: usize = 3;
