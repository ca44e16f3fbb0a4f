//! `diagnose --isolation`: sessions are offered where they must not be accepted.

use reprise_connection::Target;
use reprise_model::document::DiagnoseDocument;
use reprise_probe::Interrupt;
use reprise_probe::isolation::cross;

use super::{DiagnoseArgs, finish};
use crate::ending::Ending;
use crate::gate::Gate;
use crate::notice::notice;
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::provenance::provenance;

pub(super) fn run(
    arguments: &DiagnoseArgs,
    targets: &[Target],
    gate: &Gate,
    outputs: Outputs,
    interrupt: &Interrupt,
) -> anyhow::Result<Ending> {
    let (options, holders) = arguments.isolation_options(targets)?;
    let limits = arguments.limits();
    notice(format_args!("at most {} connections per target, {} per second", limits.connections, limits.rate));
    let provenance = provenance();
    let progress = Progress::of("connections");
    let isolation = cross(targets, &holders, &options, limits, &progress, interrupt);
    progress.finish();
    let software = arguments.server_software.as_deref();
    let (diagnoses, isolation) = reprise_results::isolation(targets, &holders, &options, &isolation, software);
    finish(arguments, gate, DiagnoseDocument { isolation, ..DiagnoseDocument::of(diagnoses, provenance) }, outputs)
}
