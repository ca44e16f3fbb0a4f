//! `cache-too-small`: a session resumes at once, and not after so many handshakes of others.

use reprise_model::document::{Finding, Severity};
use reprise_probe::diagnose::Step;

use super::examined::{Examined, by_outcome, mechanism};
use crate::figures::connections;

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let found = examined.runs("fill").filter_map(|run| {
        let confidence = examined.loses(run)?;
        let between = run.seen.iter().filter(|seen| seen.step == Step::Interpose && seen.fault.is_none()).count();
        if between == 0 {
            return None;
        }
        let between = connections(between as u64);
        let title = format!("A session of {} is gone after {between}", mechanism(run.asked));
        let offered = run.all().filter(|seen| seen.observation.offered.is_some());
        let evidence = std::iter::once(format!("Offered at once, every session resumed; after {between}:"));
        let severity = if examined.has_tickets_instead(run.asked) { Severity::Note } else { Severity::Risk };
        let finding = Finding::new("cache-too-small", severity, confidence, title).by_design();
        Some(examined.priced(finding.because(evidence.chain(by_outcome(offered))), run.asked.tls))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{ID, Scene, TLS12, TLS12_ID, only};
    use reprise_model::Kind;
    use reprise_model::document::Confidence;

    #[test]
    fn a_session_that_others_push_out_is_a_risk() {
        let after = |kind| Scene::resuming(TLS12_ID).run("fill", TLS12_ID, &[Kind::Full, Kind::Full, Kind::Full, kind]);
        let finding = only(findings, &after(Kind::Full)).unwrap();
        assert!(finding.title.contains("gone after 2 connections"), "{finding:?}");
        assert_eq!(finding.severity, Severity::Risk);
        assert_eq!(only(findings, &after(ID)), None);
        assert_eq!(finding.confidence, Confidence::Possible, "once may be chance");
        let beside_tickets = after(Kind::Full).and_resuming(TLS12);
        assert_eq!(only(findings, &beside_tickets).unwrap().severity, Severity::Note);
    }

    #[test]
    fn a_node_that_does_not_know_the_session_is_no_small_cache() {
        let lost = [Kind::Full; 4];
        let twice = || Scene::resuming(TLS12_ID).run("fill", TLS12_ID, &lost).again(&lost);
        assert_eq!(only(findings, &twice()).unwrap().confidence, Confidence::Possible, "so may twice");
        assert_eq!(only(findings, &twice().again(&lost)).unwrap().confidence, Confidence::Likely);
        let sometimes = twice().again(&[Kind::Full, Kind::Full, Kind::Full, ID]);
        assert_eq!(only(findings, &sometimes), None);
        let anyway = twice().control(TLS12_ID, &[Kind::Full, ID, Kind::Full]);
        assert_eq!(only(findings, &anyway), None);
    }
}
