//! What a diagnosis shows of a server beyond what a measurement does: the rules over its experiments, one cause a file.

mod cache_too_small;
mod client_psk_mode;
mod document;
mod early_data_off;
mod early_data_stateful;
mod ems_differs;
mod examined;
mod large_client_hello;
mod lifetime;
mod nagle;
mod node_certificate_differs;
mod node_protocol_differs;
mod offer_breaks_connection;
mod processor_time;
mod restart_lost_keys;
mod rotation_stalled;
mod session_context_unset;
mod session_too_large;
mod single_use;
mod sni_differs;
mod suite_differs;
mod ticket_dearer_than_signature;
mod tickets_run_out;
mod unclean_close_evicts;
mod vhost_directives;
mod whole_request;

#[cfg(test)]
mod scene;

pub use document::{ServerRun, server_diagnosis};

use reprise_model::document::{Finding, Severity};

use self::examined::Examined;
use crate::findings::findings as of_measurement;
use crate::verdict::worst_first;

/// Every finding that these experiments support, the worst first.
fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let causes = [
        cache_too_small::findings,
        client_psk_mode::findings,
        early_data_off::findings,
        early_data_stateful::findings,
        ems_differs::findings,
        large_client_hello::findings,
        lifetime::findings,
        nagle::findings,
        node_certificate_differs::findings,
        node_protocol_differs::findings,
        offer_breaks_connection::findings,
        restart_lost_keys::findings,
        rotation_stalled::findings,
        session_context_unset::findings,
        session_too_large::findings,
        single_use::findings,
        sni_differs::findings,
        suite_differs::findings,
        ticket_dearer_than_signature::findings,
        tickets_run_out::findings,
        unclean_close_evicts::findings,
        vhost_directives::findings,
    ];
    let mut findings: Vec<Finding> = causes.iter().flat_map(|cause| cause(examined)).collect();
    let found: Vec<String> = findings.iter().map(|finding| finding.id.clone()).collect();
    // What the experiments say of a cause holds more than what a measurement would.
    findings.extend(of_measurement(&examined.case).into_iter().filter(|finding| !found.contains(&finding.id)));
    // A rule that knows why takes the place of one that sees only that.
    let is_explained = |finding: &Finding| {
        let by = |why: &str| found.iter().any(|id| id == why);
        finding.severity != Severity::Note && EXPLAINED_BY.iter().any(|(that, why)| *that == finding.id && by(why))
    };
    findings.retain(|finding| !is_explained(finding));
    worst_first(&mut findings);
    findings
}

/// What is seen, and what explains it.
const EXPLAINED_BY: &[(&str, &str)] = &[
    ("not-offered", "vhost-directives"),
    ("id-never-accepted", "vhost-directives"),
    ("not-offered", "session-too-large"),
    ("id-never-accepted", "session-too-large"),
    ("not-offered", "lifetime-invalid"),
    ("not-offered", "restart-lost-keys"),
    ("not-offered", "client-psk-mode"),
    ("hidden-nodes", "restart-lost-keys"),
    ("hidden-nodes", "node-certificate-differs"),
    ("tickets-run-out", "cache-too-small"),
    ("offer-breaks-connection", "large-client-hello"),
    ("offer-breaks-connection", "node-protocol-differs"),
];
