//! `sni-differs`: a session resumes only under the name that it was made for, as RFC 6066 §3 wants it: by design.

use reprise_probe::diagnose::{ExperimentRun, Seen};
use reprise_trace::document::{Confidence, Finding, Severity};

use super::examined::{Counts, Examined, cite, mechanism};

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let is_bound = |seen: &[Seen]| {
        let counts = Counts::of(seen);
        counts.offered() > 0 && counts.resumed == 0
    };
    let sure = |run| Examined::each_time(run, is_bound).filter(|_| examined.always_resumes(run.asked));
    let runs: Vec<(&ExperimentRun, Confidence)> =
        examined.runs("without-sni").filter_map(|run| Some((run, sure(run)?))).collect();
    let evidence: Vec<String> = runs.iter().flat_map(|(run, _)| run.all()).map(cite).collect();
    let by: Vec<String> = runs.iter().map(|(run, _)| mechanism(run.asked)).collect();
    let Some(confidence) = runs.iter().map(|(_, confidence)| *confidence).min() else { return Vec::new() };
    let title = format!("Sessions resume only under the name that they were made for ({})", by.join(", "));
    vec![Finding::new("sni-differs", Severity::Note, confidence, title).because(evidence)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS12, TLS13, only};
    use reprise_trace::Kind;

    #[test]
    fn a_session_that_is_bound_to_its_name_is_a_note() {
        let without = |kind| Scene::resuming(TLS13).run("without-sni", TLS13, &[Kind::Full, kind]);
        assert_eq!(only(findings, &without(Kind::Full)).unwrap().severity, Severity::Note);
        assert_eq!(only(findings, &without(TICKET)), None);
        let both = without(Kind::Full).and_resuming(TLS12).run("without-sni", TLS12, &[Kind::Full, Kind::Full]);
        assert!(only(findings, &both).unwrap().title.contains("TLS 1.3 by ticket, TLS 1.2 by ticket"));
    }
}
