//! From crossed offers to a document: groups, findings, the verdict.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use reprise_model::document::{Finding, Fleet, FleetGroup, FleetNode};
use reprise_model::{Asked, TicketKeyName, Version};
use reprise_probe::crossing::{CrossingEnd, PlaceState};
use reprise_probe::fleet::{FleetExamination, MECHANISMS};
use reprise_wire::CipherSuite;

use super::case::{FleetCase, FleetFinding, Node};
use crate::causes::rules;
use crate::diagnose::examined::mechanism;
use crate::findings::with_remedies;
use crate::verdict::worst_first;

/// Nodes that were examined together.
pub struct FleetRun<'a> {
    /// The nodes as they are called.
    pub names: Vec<String>,
    /// Whether all are asked for the same name.
    pub is_one_name: bool,
    /// Whether they are the addresses of one name.
    pub are_addresses: bool,
    /// What the nodes are, where the user says so.
    pub software: Option<&'a str>,
}

/// What the offers between nodes show.
pub fn fleet_diagnosis(run: FleetRun<'_>, examination: &FleetExamination) -> Fleet {
    let case = FleetCase::new(examination, run.names, run.is_one_name, run.are_addresses);
    let found: Vec<FleetFinding> = rules(|cause| cause.fleet).flat_map(|rule| rule(&case)).collect();
    let main = case.main_mechanism();
    let groups = main.map(|asked| case.groups(asked)).unwrap_or_default();
    let mut verdict = verdict(&case, main, &groups, &found);
    if examination.ended.is_some() {
        verdict.insert_str(0, "Incomplete: ");
    }
    let software = run.software.map(str::to_owned).or_else(|| one_software(examination));
    let mut findings: Vec<Finding> =
        with_remedies(found.into_iter().map(|it| it.finding), software.as_deref(), None).collect();
    worst_first(&mut findings);
    let mechanisms = case.mechanisms();
    Fleet {
        verdict,
        nodes: case
            .nodes
            .iter()
            .zip(&examination.states)
            .zip(&case.names)
            .map(|((node, state), name)| record(node, state, name))
            .collect(),
        groups: groups.into_iter().map(|nodes| group(&case, main, nodes)).collect(),
        matrix: case.cells(),
        shared: mechanisms.iter().find(|it| Some(it.asked) == main).map(|it| it.shared),
        mechanisms,
        are_addresses: run.are_addresses,
        sampled: examination.is_sampled,
        findings,
        connections: examination.connections,
        seconds: examination.took.0 as f64 / 1e9,
        incomplete: examination.ended.is_some(),
        interrupted: examination.ended == Some(CrossingEnd::Interrupted),
        warnings: warning(&case).into_iter().collect(),
    }
}

/// What all reveal alike: remedies of others would not help.
fn one_software(examination: &FleetExamination) -> Option<String> {
    let names: BTreeSet<&str> = examination.states.iter().filter_map(|state| state.software.as_deref()).collect();
    let known: BTreeSet<_> = names.iter().map(|name| crate::causes::software(name)).collect();
    names.first().filter(|_| known.len() == 1).map(|name| (*name).to_owned())
}

fn record(node: &Node, state: &PlaceState, name: &str) -> FleetNode {
    let names = MECHANISMS.iter().filter_map(|asked| node.key_names.get(asked)).flatten();
    let suites: BTreeSet<u16> = node.suites.values().flatten().copied().collect();
    FleetNode {
        target: name.to_owned(),
        address: state.address.map(|address| address.to_string()),
        software: state.software.clone(),
        reached: node.is_reached(),
        key_names: names.map(TicketKeyName::to_string).unique().collect(),
        certificate: node.leaves.last().map(|leaf| leaf.iter().map(|byte| format!("{byte:02x}")).collect()),
        versions: node.suites.keys().copied().collect::<Vec<Version>>(),
        suites: suites.into_iter().map(|suite| CipherSuite(suite).to_string()).collect(),
        clock_s: state.clock.map(|(least, most)| [least.div_euclid(1000), -(-most).div_euclid(1000)]),
        failed: node.failed,
        failure: node.last_failure.map(|name| name.to_string()),
    }
}

fn group(case: &FleetCase<'_>, main: Option<Asked>, nodes: Vec<usize>) -> FleetGroup {
    let members = nodes.iter().filter_map(|node| case.nodes.get(*node));
    let names = members.filter_map(|node| node.key_names.get(&main?)).flatten();
    FleetGroup { key_names: names.map(TicketKeyName::to_string).unique().collect(), nodes }
}

/// "6 of 8 nodes share; c and f stand alone: another ticket key".
fn verdict(case: &FleetCase<'_>, main: Option<Asked>, groups: &[Vec<usize>], found: &[FleetFinding]) -> String {
    let count = case.nodes.len();
    let is_cut = case.examination.ended.is_some();
    let is_unreached =
        |node: &usize| case.nodes.get(*node).is_some_and(|it| !it.is_reached() && (!is_cut || case.is_down(*node)));
    let unreached: Vec<usize> = (0..count).filter(is_unreached).collect();
    if unreached.len() == count {
        return "No node was reached".to_owned();
    }
    let were_not = |nodes: &[usize], done: &str| match nodes {
        [] => String::new(),
        [one] => format!("; {} was not {done}", case.list(&[*one])),
        nodes => format!("; {} were not {done}", case.list(nodes)),
    };
    let gone = were_not(&unreached, "reached");
    let Some(main) = main else {
        return match is_cut && MECHANISMS.into_iter().all(|asked| case.pairs(asked).next().is_none()) {
            true => format!("No session was offered{gone}"),
            false => format!("No node accepts a session of its own{gone}"),
        };
    };
    let reason = |nodes: &[usize]| {
        let of = found.iter().filter(|it| nodes.iter().any(|node| it.nodes.contains(node)));
        of.min_by_key(|it| (it.finding.severity, it.finding.confidence))
            .map(|it| format!(": {}", it.reason))
            .unwrap_or_default()
    };
    let (large, alone): (Vec<_>, Vec<_>) = groups.iter().partition(|group| group.len() > 1);
    // Where time was up, nothing is said of a node whose sessions met no other node.
    let is_tried = |node: &usize| {
        let meets = |(from, to): (usize, usize)| from != to && (from == *node || to == *node);
        !is_cut || case.pairs(main).any(meets)
    };
    let (alone, untried): (Vec<usize>, Vec<usize>) = alone.into_iter().flatten().copied().partition(is_tried);
    let gone = were_not(&untried, "tried with the others") + &gone;
    let Some((largest, others)) = large.split_first() else {
        return match count - unreached.len() {
            1 => format!("Of one node, nothing can be shared{gone}"),
            _ if alone.is_empty() => "No session was offered to another node".to_owned(),
            _ => format!("No node accepts the sessions of another{}{gone}", reason(&alone)),
        };
    };
    if largest.len() == count {
        return format!("All {count} nodes share their sessions, by {}", mechanism(main));
    }
    let mut sentence = format!("{} of {count} nodes share", largest.len());
    for group in others.iter().take(3) {
        sentence += &format!("; {} share among themselves{}", case.list(group), reason(group));
    }
    match others.len().saturating_sub(3) {
        0 => {}
        more => sentence += &format!("; so do {more} more groups"),
    }
    // Each for its own reason.
    let mut reasons: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    alone.into_iter().for_each(|node| reasons.entry(reason(&[node])).or_default().push(node));
    let mut reasons: Vec<(String, Vec<usize>)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, nodes)| nodes.first().copied());
    for (reason, nodes) in reasons {
        let stand = if nodes.len() == 1 { "stands" } else { "stand" };
        sentence += &format!("; {} {stand} alone{reason}", case.list(&nodes));
    }
    sentence + &gone
}

fn warning(case: &FleetCase<'_>) -> Option<String> {
    let warning = match case.examination.ended? {
        CrossingEnd::Limit => {
            "The limit of connections or of time was reached, so not everything was tried: increase --connections or --max-time"
        }
        CrossingEnd::Interrupted => "Interrupted: these are the offers made until then",
    };
    Some(warning.to_owned())
}
