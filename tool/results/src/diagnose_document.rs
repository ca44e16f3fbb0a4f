//! From experiments with a server to the document of its diagnosis.

use reprise_connection::{Fault, Target};
use reprise_diagnosis::{IsolationRun, ServerRun, isolation_diagnoses, server_diagnosis};
use reprise_model::Failure;
use reprise_model::document::{Diagnosis, IsolationRecord, Provenance};
use reprise_probe::diagnose::{EarlyEnd, Examination};
use reprise_probe::isolation::{Holder, Isolation};
use reprise_probe::{FailedConnection, Options};

use crate::failed::failure_of;
use crate::fault::{FaultContext, failure};
use crate::measure_document::figures_document;
use crate::warnings::dead_addresses;

/// What experiments on `target` with these options came to. `software`: what the server is, where the user says so.
pub fn diagnosis(
    target: &Target,
    options: &Options,
    examination: &Examination,
    software: Option<&str>,
    provenance: &Provenance,
) -> Diagnosis {
    let connections = (examination.timed.as_slice(), examination.retries.as_ref());
    let (answered, address) = (examination.answered(), examination.address);
    let figures = figures_document(target, options, connections, &answered, address, provenance.clone());
    let failure = ended(examination, options);
    let mut diagnosis = server_diagnosis(ServerRun { target, options, figures: &figures, failure, software }, examination);
    diagnosis.warnings.splice(..0, dead_addresses(&examination.dead_addresses));
    diagnosis
}

/// What sessions of these targets came to that were offered at the others. `software`: as of [`diagnosis`].
pub fn isolation(
    targets: &[Target],
    holders: &[Holder],
    options: &Options,
    isolation: &Isolation,
    software: Option<&str>,
) -> (Vec<Diagnosis>, Vec<IsolationRecord>) {
    let ended = isolation.ended_by.as_ref().and_then(|end| early_end(end, options));
    let failure = |failed: &FailedConnection| failure_of(failed, options);
    let failures = isolation.places.iter().map(|place| place.failed.as_ref().map(failure).or_else(|| ended.clone()));
    isolation_diagnoses(IsolationRun { targets, holders, failures: failures.collect(), software }, isolation)
}

/// What ended it before its time, in words.
fn ended(examination: &Examination, options: &Options) -> Option<Failure> {
    early_end(examination.ended_by.as_ref()?, options)
}

fn early_end(end: &EarlyEnd, options: &Options) -> Option<Failure> {
    match end {
        EarlyEnd::Unreachable(failed) => Some(failure_of(failed, options)),
        EarlyEnd::Blocked { fault, .. } => {
            Some(failure(fault, &FaultContext { timeout: options.timeout, ..FaultContext::default() }))
        }
        EarlyEnd::Limit => None,
        EarlyEnd::Interrupted => Some(failure(&Fault::interrupted(), &FaultContext::default())),
    }
}
