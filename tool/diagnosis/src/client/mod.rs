//! What a watched server saw of a client program, judged: does it resume, and if not, why?
//!
//! The rules of the causes are pure functions of a [`ClientCase`]: the connections, and for each the sessions that its client then held.

pub(crate) mod case;
mod fingerprints;
pub(crate) mod software;
mod unreached;
mod verdict;

#[cfg(test)]
pub(crate) mod example;

use std::time::Duration;

use reprise_model::document::{Diagnosis, Finding, Subject};
use reprise_model::{Failure, Watched};

pub(crate) use self::case::ClientCase;
use self::software::client_software;
use crate::causes::rules;
use crate::verdict::worst_first;

/// What a client program was, apart from its connections.
#[derive(Clone, Debug, Default)]
pub struct ClientRun {
    /// How it is called in the document: the command, or the address that it was awaited at.
    pub target: String,
    /// The server's address.
    pub address: String,
    /// The words of the command; none where clients were awaited.
    pub command: Vec<String>,
    /// What ended the watching before its time.
    pub failure: Option<Failure>,
    /// How long it was watched.
    pub watched_for: Duration,
    /// What the reader should know before believing it.
    pub warnings: Vec<String>,
}

/// The diagnosis of the clients that were watched.
pub fn client_diagnosis(run: ClientRun, watched: &Watched) -> Diagnosis {
    let software = client_software(&run.command, watched);
    let case = ClientCase::new(watched, software);
    let found = rules(|cause| cause.watched).filter_map(|find| find(&case));
    let mut findings: Vec<Finding> = found.map(|finding| case.cost_of(finding)).collect();
    worst_first(&mut findings);
    let reached = case.completed().next().is_some();
    let failure = run.failure.or_else(|| unreached::failure(&case, &run.address));
    let mut warnings = run.warnings;
    warnings.extend(verdict::warnings(&case, &findings));
    Diagnosis {
        target: run.target,
        subject: Subject::Client,
        address: Some(run.address),
        software: software.map(str::to_owned),
        reached,
        // Without a command, Ctrl-C is how a watch ends.
        incomplete: failure.is_some() && !run.command.is_empty(),
        verdict: verdict::sentence(&case, &findings, failure.as_ref()),
        failure,
        findings,
        experiments: verdict::experiments(&case),
        connections: u32::try_from(watched.connections.len() as u64 + watched.unkept).unwrap_or(u32::MAX),
        seconds: run.watched_for.as_secs_f64(),
        matrix: verdict::matrix(&case),
        fingerprints: fingerprints::records(&case),
        figures: verdict::of_data_connections(&case).into_iter().collect(),
        warnings,
        ..Diagnosis::default()
    }
}
