//! `--like all`: one target, offered what each client offers, in turns.

use anyhow::bail;
use reprise_clients::rows;
use reprise_connection::Target;
use reprise_model::Failure;
use reprise_model::document::{ClientsDocument, Provenance, Target as TargetRecord};
use reprise_probe::{Interrupt, Options, measure_in_turns};

use super::flags::MeasureArgs;
use super::measured::explained;
use super::was_interrupted;
use crate::progress::Progress;

/// The same target with the options of each client.
pub(super) fn targets(arguments: MeasureArgs) -> anyhow::Result<Vec<(Target, Options)>> {
    let Some(target) = arguments.target() else { bail!("--like all needs a target") };
    if arguments.session_files.need_a_target() {
        bail!("--like all makes sessions of its own for each client: remove --session-in and --session-out");
    }
    if arguments.gate.server_pid.is_some() || !arguments.gate.baseline.is_empty() {
        bail!("--server-pid and --baseline are for one client: name it with --like CLIENT");
    }
    let options = arguments.into_options(None)?;
    Ok(rows().iter().map(|row| (target.clone(), Options { like: Some(row), ..options.clone() })).collect())
}

pub(super) fn measure(
    targets: &[(Target, Options)],
    provenance: Provenance,
    progress: &Progress,
    interrupt: &Interrupt,
) -> (ClientsDocument, Option<Failure>) {
    let seed = targets.first().map_or(0, |(_, options)| options.seed);
    let measurements = measure_in_turns(targets, seed, progress, interrupt);
    let (mut results, mut failure) = (Vec::new(), None);
    for ((target, options), measurement) in targets.iter().zip(&measurements) {
        let (mut document, ended) = explained(target, options, measurement, provenance.clone());
        document.label = options.like.map(|row| row.name.clone()).unwrap_or_default();
        results.push(document);
        failure = match failure {
            Some(known) if !was_interrupted(ended.as_ref()) => Some(known),
            known => ended.or(known),
        };
    }
    // What one client meets is an answer: only where none gets through was nothing measured.
    let failure =
        failure.filter(|failure| was_interrupted(Some(failure)) || results.iter().all(|result| result.samples.is_empty()));
    let target = results.first().map(|result| TargetRecord { like: None, ..result.target.clone() }).unwrap_or_default();
    let schema = ClientsDocument::SCHEMA.to_owned();
    (ClientsDocument { schema, target, results, conditions: Vec::new(), provenance }, failure)
}
