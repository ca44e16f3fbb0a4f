//! `reprise diagnose TARGET…`: does it resume everywhere; if not, why, and how to fix it?

mod command;
mod flags;
mod isolation;
mod listed_targets;
mod listen;
mod listen_flags;
mod together;

pub(crate) use flags::DiagnoseArgs;

use reprise_model::FailureClass;
use reprise_model::document::{DiagnoseDocument, Diagnosis};
use reprise_probe::Interrupt;
use reprise_probe::diagnose::diagnose;
use reprise_report::{Document, Report};

use crate::ending::Ending;
use crate::gate::{Gate, complaints};
use crate::notice::notice;
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::provenance::provenance;
use crate::server_process::server_cpu;

pub(crate) fn run(arguments: DiagnoseArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    arguments.listen.check()?;
    let gate = arguments.conditions()?;
    if let Some(listen) = arguments.listen.listen {
        return listen::run(&arguments, listen, &gate, interrupt);
    }
    let outputs = Outputs::open(&arguments.output, &[])?;
    let targets = arguments.targets()?;
    arguments.check_server(&targets)?;
    if arguments.isolation {
        return isolation::run(&arguments, &targets, &gate, outputs, interrupt);
    }
    let options = arguments.options(&targets)?;
    if arguments.together {
        return together::run(&arguments, targets, &options, &gate, outputs, interrupt);
    }
    let limits = arguments.limits();
    notice(format_args!(
        "at most {} connections per target, {} per second, {} s",
        limits.connections,
        limits.rate,
        limits.time.as_secs()
    ));
    let mut diagnoses = Vec::new();
    let provenance = provenance();
    let server_clock = || arguments.server_pid.and_then(server_cpu);
    for target in &targets {
        let progress = Progress::of("connections");
        let examination = diagnose(target, &options, limits, &progress, &server_clock, interrupt);
        progress.finish();
        let software = arguments.server_software.as_deref();
        let diagnosis = reprise_results::diagnosis(target, &options, &examination, software, &provenance);
        diagnoses.push(diagnosis);
        if interrupt.is_raised() {
            break;
        }
    }
    finish(&arguments, &gate, DiagnoseDocument::of(diagnoses, provenance), outputs)
}

/// Holds what was found against the conditions, writes it, and says how it ends.
fn finish(
    arguments: &DiagnoseArgs,
    gate: &Gate,
    mut document: DiagnoseDocument,
    outputs: Outputs,
) -> anyhow::Result<Ending> {
    document.conditions = gate.judge(&document);
    outputs.write(Report { shown: arguments.shown(), ..Document::Diagnose(&document).into() })?;
    Ok(ending(&document))
}

/// The targets have failed only if all have. A fault is a bad answer, and so is a condition that is met.
fn ending(document: &DiagnoseDocument) -> Ending {
    let mut failures = document.targets.iter().filter_map(|target| target.failure.as_ref());
    if failures.clone().any(|failure| failure.class == FailureClass::Interrupted) {
        return Ending::Interrupted;
    }
    if let Some(first) = failures.next()
        && document.fleet.is_none()
        && document.targets.iter().all(Diagnosis::has_failed)
    {
        return Ending::Failed(first.clone());
    }
    let complaints: Vec<String> = faults(document).chain(complaints(&document.conditions)).collect();
    if complaints.is_empty() { Ending::Done } else { Ending::BadAnswer(complaints.join("\n  ")) }
}

fn faults(document: &DiagnoseDocument) -> impl Iterator<Item = String> {
    let faults = document.findings().filter(|(_, finding)| finding.fails_a_diagnosis());
    faults.map(|(target, fault)| format!("{target}: {} [{}]", fault.title, fault.id))
}
