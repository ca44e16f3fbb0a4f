//! `sni-differs`: a session resumes only under the name that it was made for, as RFC 6066 §3 wants it: by design.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::ExperimentRun;

use super::examined::{Examined, evidence, mechanism};

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    // A connection that fails without a name may fail for the name alone: a server has no certificate for none.
    let runs: Vec<(&ExperimentRun, Confidence)> =
        examined.runs("without-sni").filter_map(|run| Some((run, examined.loses(run)?))).collect();
    let evidence: Vec<String> = runs.iter().flat_map(|(run, _)| evidence(run)).collect();
    let by: Vec<String> = runs.iter().map(|(run, _)| mechanism(run.asked)).collect();
    let Some(confidence) = runs.iter().map(|(_, confidence)| *confidence).min() else { return Vec::new() };
    let title = format!("Sessions resume only under their own server name ({})", by.join(", "));
    vec![Finding::new("sni-differs", Severity::Note, confidence, title).because(evidence).by_design()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS12, TLS13, only};
    use reprise_model::Kind;

    #[test]
    fn a_session_that_is_bound_to_its_name_is_a_note() {
        let without = |kind| Scene::resuming(TLS13).run("without-sni", TLS13, &[Kind::Full, kind]);
        assert_eq!(only(findings, &without(Kind::Full)).unwrap().severity, Severity::Note);
        assert_eq!(only(findings, &without(TICKET)), None);
        let both = without(Kind::Full).and_resuming(TLS12).run("without-sni", TLS12, &[Kind::Full, Kind::Full]);
        assert!(only(findings, &both).unwrap().title.contains("TLS 1.3 by ticket, TLS 1.2 by ticket"));
    }
}
