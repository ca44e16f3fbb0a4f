//! What a watched server saw of a client program, judged: does it resume, and if not, why?
//!
//! Each cause stands in a file of its own, under the slug by which documents name it. A rule is a pure function of a
//! [`ClientCase`]: the connections, and for each the sessions that its client then held.

mod alpn_differs;
mod cache_small;
mod case;
mod closes_early;
mod config_rebuilt;
mod early_data_offered;
mod ems_differs;
mod never_offers;
mod psk_mode;
mod reuses_ticket;
mod sni_differs;
mod software;
mod suite_differs;
mod tickets_run_out;
mod unreached;
mod verdict;
mod version_differs;

#[cfg(test)]
mod example;

use std::time::Duration;

use reprise_model::document::{Diagnosis, Finding, Subject};
use reprise_model::{Failure, Watched};

use self::case::ClientCase;
pub use self::software::client_software;
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
    let mut findings = findings(&case);
    worst_first(&mut findings);
    let reached = case.completed().next().is_some();
    let failure = run.failure.or_else(|| unreached::failure(&case, &run.address));
    let mut warnings = run.warnings;
    warnings.extend(verdict::warnings(&case, &findings));
    Diagnosis {
        target: run.target,
        subject: Subject::Client,
        address: Some(run.address),
        other_addresses: Vec::new(),
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
        figures: Vec::new(),
        warnings,
    }
}

type Rule = fn(&ClientCase<'_>) -> Option<Finding>;

/// In the order in which a client meets them.
const RULES: [Rule; 13] = [
    never_offers::finding,
    closes_early::finding,
    config_rebuilt::finding,
    psk_mode::finding,
    reuses_ticket::finding,
    tickets_run_out::finding,
    cache_small::finding,
    sni_differs::finding,
    alpn_differs::finding,
    version_differs::finding,
    suite_differs::finding,
    ems_differs::finding,
    early_data_offered::finding,
];

fn findings(case: &ClientCase<'_>) -> Vec<Finding> {
    let with_cost = |finding: Finding| case.cost_of(finding);
    RULES.iter().filter_map(|rule| rule(case)).map(with_cost).collect()
}
