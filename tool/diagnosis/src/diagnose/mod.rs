//! What a diagnosis shows of a server beyond what a measurement does: the rules of the causes over its experiments.

mod cache_tried;
mod data_channel;
mod document;
pub(crate) mod examined;
mod processor_time;
mod stored_session;
mod whole_request;

#[cfg(test)]
pub(crate) mod scene;

pub use document::{ServerRun, server_diagnosis};
pub(crate) use examined::Examined;
pub(crate) use stored_session::StoredSession;

use reprise_model::document::Finding;

use crate::causes::{cache_too_small, rules};
use crate::findings::of_rules;
use crate::judged;
use crate::settled::settled;

/// Every finding that these experiments support, the worst first, and of those what helps most.
fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = rules(|cause| cause.examined).flat_map(|rule| rule.findings(examined)).collect();
    let found: Vec<String> = findings.iter().map(|finding| finding.id.clone()).collect();
    // What the experiments say of a cause holds more than what a measurement would.
    findings.extend(of_rules(&examined.case).filter(|finding| !found.contains(&finding.id)));
    // Of equal weight, what weighs all connections comes first: several nodes rather than what each of them does.
    let mut judged = judged::findings(&examined.case);
    judged.extend(findings);
    settled(judged, &found).into_iter().map(|finding| cache_too_small::with_size(finding, examined.session)).collect()
}
