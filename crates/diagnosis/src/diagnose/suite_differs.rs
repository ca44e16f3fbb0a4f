//! `suite-differs`: a session is refused where the server would prefer another suite now than the one that it was made with:
//! under TLS 1.3 of another hash (RFC 8446 §4.2.11), under TLS 1.2 any other (RFC 5246 §7.4.1.3).

use reprise_model::document::{Finding, Severity};
use reprise_probe::diagnose::ExperimentRun;

use super::examined::{Examined, evidence, mechanism};

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let finding = |run: &ExperimentRun| {
        let confidence = examined.loses(run)?;
        let title = format!("{}: a session is refused when the server now prefers another suite", mechanism(run.asked));
        Some(Finding::new("suite-differs", Severity::Note, confidence, title).because(evidence(run)).by_design())
    };
    examined.runs("other-suite").filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS13, only};
    use reprise_model::Kind;

    #[test]
    fn a_session_of_a_suite_that_is_not_preferred_is_refused() {
        let other = |kind| Scene::resuming(TLS13).run("other-suite", TLS13, &[Kind::Full, kind]);
        assert_eq!(only(findings, &other(Kind::Full)).unwrap().severity, Severity::Note);
        assert_eq!(only(findings, &other(TICKET)), None);
    }
}
