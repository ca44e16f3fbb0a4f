//! From experiments with a server to the document of its diagnosis.

use reprise_connection::{Fault, Target};
use reprise_diagnosis::{ServerRun, server_diagnosis};
use reprise_model::Failure;
use reprise_model::document::{Diagnosis, Provenance};
use reprise_probe::Options;
use reprise_probe::diagnose::{EarlyEnd, Examination};

use crate::failed::failure_of;
use crate::fault::{FaultContext, failure};
use crate::measure_document::figures_document;

/// What experiments on `target` with these options came to. `software`: what the server is, where the user says so.
pub fn diagnosis(
    target: &Target,
    options: &Options,
    examination: &Examination,
    software: Option<&str>,
    provenance: &Provenance,
) -> Diagnosis {
    let figures = figures_document(target, options, &examination.series, examination.address, provenance.clone());
    let failure = ended(examination, options);
    server_diagnosis(ServerRun { target, options, figures: &figures, failure, software }, examination)
}

/// What ended it before its time, in words.
fn ended(examination: &Examination, options: &Options) -> Option<Failure> {
    match examination.ended_by.as_ref()? {
        EarlyEnd::Unreachable(failed) => Some(failure_of(failed, options)),
        EarlyEnd::Blocked { fault, .. } => {
            Some(failure(fault, &FaultContext { timeout: options.timeout, ..FaultContext::default() }))
        }
        EarlyEnd::Limit => None,
        EarlyEnd::Interrupted => Some(failure(&Fault::interrupted(), &FaultContext::default())),
    }
}
