//! `reprise diagnose --together A B…`: do these nodes accept each other's sessions; if not, why, and how to fix it?

use std::collections::BTreeSet;
use std::net::IpAddr;

use anyhow::ensure;
use reprise_connection::Target;
use reprise_diagnosis::{FleetRun, fleet_diagnosis};
use reprise_model::document::DiagnoseDocument;
use reprise_model::document::Diagnosis;
use reprise_probe::crossing::{CrossingEnd, Place};
use reprise_probe::fleet::{FleetExamination, MECHANISMS, accepted, examine_fleet};
use reprise_probe::{Interrupt, Options, ServerName, addresses_of};
use reprise_results::fault::FaultContext;

use super::{DiagnoseArgs, finish};
use crate::ending::Ending;
use crate::gate::Gate;
use crate::notice::notice;
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::provenance::provenance;

/// So many nodes are asked alone, of those that sometimes refuse their own sessions.
const ALONE: usize = 3;

pub(super) fn run(
    arguments: &DiagnoseArgs,
    targets: Vec<Target>,
    options: &Options,
    gate: &Gate,
    outputs: Outputs,
    interrupt: &Interrupt,
) -> anyhow::Result<Ending> {
    let are_addresses = arguments.all_addresses && targets.len() == 1;
    let nodes = nodes(arguments, targets, options, interrupt)?;
    ensure!(nodes.len() > 1, "--together needs at least two nodes: name more targets, or use --all-addresses");
    let limits = arguments.limits_together(nodes.len());
    let count = nodes.len();
    notice(format_args!("{count} nodes: at most {} connections, {} per second", limits.connections, limits.rate));
    let provenance = provenance();
    let names = nodes.iter().map(|(name, _)| name.clone()).collect();
    let places: Vec<Place> = nodes.into_iter().map(|(_, place)| place).collect();
    let is_one_name = is_one_name(&places);
    let progress = Progress::of("connections");
    let examination = examine_fleet(places.clone(), limits, options.seed, &progress, interrupt);
    progress.finish();
    let software = arguments.server_software.as_deref();
    let fleet = fleet_diagnosis(FleetRun { names, is_one_name, are_addresses, software }, &examination);
    let unreached = fleet.nodes.iter().all(|node| !node.reached).then(|| first_failure(&examination)).flatten();
    let mut alone = Vec::new();
    for node in to_be_asked_alone(&examination).into_iter().take(ALONE).filter(|_| !interrupt.is_raised()) {
        alone.extend(places.get(node).map(|place| diagnose_alone(arguments, place, &provenance, interrupt)));
    }
    let was_interrupted = examination.ended == Some(CrossingEnd::Interrupted);
    let ending = {
        let document = DiagnoseDocument { fleet: Some(fleet), ..DiagnoseDocument::of(alone, provenance) };
        finish(arguments, gate, document, outputs)?
    };
    Ok(match unreached {
        _ if was_interrupted => Ending::Interrupted,
        Some(fault) => Ending::Failed(reprise_results::failure(&fault, &FaultContext::default())),
        None => ending,
    })
}

/// Each node by its name: the target, and with `--all-addresses` each of its addresses.
fn nodes(
    arguments: &DiagnoseArgs,
    targets: Vec<Target>,
    options: &Options,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<(String, Place)>> {
    let mut nodes = Vec::new();
    for target in targets {
        if !arguments.all_addresses {
            nodes.push((target.to_string(), Place { target, options: options.clone() }));
            continue;
        }
        let named = &arguments.probe.connection.resolve;
        let addresses = match target.address() {
            _ if !named.is_empty() => named.clone(),
            Some(address) => vec![address],
            None => {
                let found = addresses_of(&target.host, target.port, options.family, options.timeout, interrupt);
                let found = found.map_err(|fault| {
                    let failure = reprise_results::failure(&fault, &FaultContext::default());
                    anyhow::anyhow!("{failure}")
                })?;
                found.into_iter().map(|address| address.ip()).collect()
            }
        };
        let mut seen: BTreeSet<IpAddr> = BTreeSet::new();
        for address in addresses.into_iter().filter(|address| seen.insert(*address)) {
            let options = Options { resolve: Some(address), ..options.clone() };
            let name = std::net::SocketAddr::new(address, target.port).to_string();
            nodes.push((name, Place { target: target.clone(), options }));
        }
    }
    Ok(nodes)
}

/// Whether all are asked for the same name, or for none.
fn is_one_name(places: &[Place]) -> bool {
    let name = |place: &Place| match &place.options.server_name {
        ServerName::Name(name) => Some(name.clone()),
        ServerName::Host => place.target.address().is_none().then(|| place.target.host.clone()),
    };
    places.iter().map(name).collect::<BTreeSet<_>>().len() <= 1
}

/// Nodes that sometimes refuse their own sessions: what others accept leaves open why.
fn to_be_asked_alone(examination: &FleetExamination) -> Vec<usize> {
    let is_in_doubt = |node: &usize| {
        MECHANISMS.into_iter().any(|asked| {
            let own = examination.crossed.iter().filter(|it| (it.asked, it.from, it.to) == (asked, Some(*node), *node));
            let outcomes: Vec<bool> = own.filter_map(accepted).collect();
            outcomes.contains(&true) && outcomes.contains(&false)
        })
    };
    (0..examination.states.len()).filter(is_in_doubt).collect()
}

fn diagnose_alone(
    arguments: &DiagnoseArgs,
    place: &Place,
    provenance: &reprise_model::document::Provenance,
    interrupt: &Interrupt,
) -> Diagnosis {
    let progress = Progress::of("connections");
    let Place { target, options } = place;
    let examination = reprise_probe::diagnose::diagnose(target, options, arguments.limits(), &progress, &|| None, interrupt);
    progress.finish();
    reprise_results::diagnosis(target, options, &examination, arguments.server_software.as_deref(), provenance)
}

fn first_failure(examination: &FleetExamination) -> Option<reprise_connection::Fault> {
    examination.crossed.iter().find_map(|it| it.fault.clone())
}
