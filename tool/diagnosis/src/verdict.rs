//! One sentence for all that was found about a target.

use reprise_model::document::{Finding, Severity};

use crate::causes::leave_out_excluded;

/// Sorts findings by their weight, the worst first; leaves out what a better supported one excludes.
pub(crate) fn worst_first(findings: &mut Vec<Finding>) {
    findings.sort_by_key(Finding::weight);
    leave_out_excluded(findings);
}

/// The worst of them, and how many more there are; `healthy` where nothing is worse than a note.
pub(crate) fn verdict(findings: &[Finding], healthy: &str) -> String {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let Some(worst) = findings.iter().find(|finding| finding.severity != Severity::Note) else {
        return healthy.to_owned();
    };
    let others = count(Severity::Fault) + count(Severity::Risk) - 1;
    match others {
        0 => worst.title.clone(),
        1 => format!("{} (and 1 more finding)", worst.title),
        _ => format!("{} (and {others} more findings)", worst.title),
    }
}
