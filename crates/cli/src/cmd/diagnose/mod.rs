//! `reprise diagnose TARGET…`: does it resume everywhere; if not, why, and how to fix it?

mod command;
mod flags;
pub(crate) mod formats;
mod listen;
mod listen_flags;

pub(crate) use flags::DiagnoseArgs;

use reprise_probe::Interrupt;
use reprise_probe::diagnose::diagnose;
use reprise_trace::document::{DiagnoseDocument, Diagnosis};
use reprise_trace::{Failure, FailureClass};

use crate::cmd::measure::server_cpu;
use crate::ending::Ending;
use crate::notice::notice;
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::provenance::provenance;
use crate::rendered::Found;

pub(crate) fn run(arguments: DiagnoseArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    arguments.listen.check()?;
    if let Some(listen) = arguments.listen.listen {
        return listen::run(&arguments, listen, interrupt);
    }
    let outputs = Outputs::open(&[arguments.output.files(), arguments.formats.files()].concat(), &[])?;
    let targets = arguments.targets()?;
    arguments.check_server(&targets)?;
    let options = arguments.options(&targets)?;
    let limits = arguments.limits();
    notice(format_args!(
        "at most {} connections per target, {} per second, {} s",
        limits.connections,
        limits.rate,
        limits.time.as_secs()
    ));
    let mut document =
        DiagnoseDocument { schema: DiagnoseDocument::SCHEMA.to_owned(), targets: Vec::new(), provenance: provenance() };
    let server_clock = || arguments.server_pid.and_then(server_cpu);
    for target in &targets {
        let progress = Progress::new();
        let examination = diagnose(target, &options, limits, &progress, &server_clock, interrupt);
        progress.finish();
        let software = arguments.server_software.as_deref();
        let diagnosis = reprise_explain::diagnosis(target, &options, &examination, software, &document.provenance);
        document.targets.push(diagnosis);
        if interrupt.is_raised() {
            break;
        }
    }
    outputs.write(&Found { document: &document, shown: arguments.shown() })?;
    Ok(ending(&document))
}

/// Several targets are unreachable only if all are; a certain fault is a bad answer.
fn ending(document: &DiagnoseDocument) -> Ending {
    let failures: Vec<&Failure> = document.targets.iter().filter_map(|target| target.failure.as_ref()).collect();
    if failures.iter().any(|failure| failure.class == FailureClass::Interrupted) {
        return Ending::interrupted();
    }
    match failures.first() {
        Some(failure) if document.targets.iter().all(|target| !target.reached) => Ending::Failed((*failure).clone()),
        _ if document.has_certain_fault() => Ending::BadAnswer(certain_faults(document)),
        _ => Ending::Done,
    }
}

fn certain_faults(document: &DiagnoseDocument) -> String {
    let of = |target: &Diagnosis| {
        let faults = target.findings.iter().filter(|finding| finding.is_certain_fault());
        faults.map(|fault| format!("{}: {} [{}]", target.target, fault.title, fault.id)).collect::<Vec<_>>()
    };
    document.targets.iter().flat_map(of).collect::<Vec<_>>().join("\n  ")
}
