//! What a diagnosis shows of a server beyond what a measurement does: the rules of the causes over its experiments.

mod document;
pub(crate) mod examined;
mod processor_time;
mod whole_request;

#[cfg(test)]
pub(crate) mod scene;

pub use document::{ServerRun, server_diagnosis};
pub(crate) use examined::Examined;

use reprise_model::document::{Confidence, Finding, Severity};

use crate::causes::{cause, rules};
use crate::findings::of_rules;
use crate::judged;
use crate::verdict::worst_first;

/// Every finding that these experiments support, the worst first.
fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = rules(|cause| cause.examined).flat_map(|rule| rule.findings(examined)).collect();
    let mut found: Vec<String> = findings.iter().map(|finding| finding.id.clone()).collect();
    // What the experiments say of a cause holds more than what a measurement would.
    findings.extend(of_rules(&examined.case).filter(|finding| !found.contains(&finding.id)));
    let mut judged = judged::findings(&examined.case);
    found.extend(judged.iter().filter(|it| it.confidence != Confidence::Possible).map(|it| it.id.clone()));
    // Of equal weight, what weighs all connections comes first: several nodes rather than what each of them does.
    judged.extend(findings);
    let mut findings = judged;
    // A rule that knows why takes the place of one that sees only that.
    let is_explained = |finding: &Finding| {
        let explained_by = cause(&finding.id).map(|cause| cause.explained_by).unwrap_or_default();
        finding.severity != Severity::Note && explained_by.iter().any(|why| found.iter().any(|id| id == why.slug))
    };
    findings.retain(|finding| !is_explained(finding));
    worst_first(&mut findings);
    findings
}
