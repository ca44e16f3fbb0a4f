//! `large-client-hello`: a ClientHello as large as those with post-quantum key shares loses the session, or the connection.

use reprise_model::document::{Finding, Severity};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::examined::{Examined, ResumptionOutcome, by_outcome, came, mechanism};

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let runs = examined.runs("large-client-hello").filter(|run| examined.always_resumes(run.asked));
    runs.filter_map(|run| finding(examined, run)).collect()
}

fn finding(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let what = what_happens(&run.seen)?;
    let confidence = Examined::each_time(run, |seen| what_happens(seen) == Some(what))?;
    let title = format!("{}: a connection with a large ClientHello {what}", mechanism(run.asked));
    let finding = Finding::new("large-client-hello", Severity::Risk, confidence, title);
    let sent = run.seen.first()?.observation.sent;
    let evidence = by_outcome(run.all()).map(|line| format!("{sent} sent: {line}"));
    Some(examined.priced(finding.because(evidence), run.asked.tls))
}

fn what_happens(seen: &[ProbeRecord]) -> Option<&'static str> {
    match (seen.first()?.fault.is_some(), seen.iter().filter_map(came).next()) {
        (true, _) => Some("fails, whether it offers a session or not"),
        (false, Some(ResumptionOutcome::Refused)) => Some("is not resumed"),
        (false, Some(ResumptionOutcome::Failed(_))) => Some("fails where it offers a session"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS13, only};
    use reprise_model::{FaultName, Kind};

    #[test]
    fn a_session_that_a_large_hello_loses_is_a_risk() {
        let large = |kind| Scene::resuming(TLS13).run("large-client-hello", TLS13, &[Kind::Full, kind]);
        assert!(only(findings, &large(Kind::Full)).unwrap().title.contains("is not resumed"));
        assert_eq!(only(findings, &large(TICKET)), None);
        let broken = large(TICKET).last_fails(FaultName::ConnectionReset);
        assert!(only(findings, &broken).unwrap().title.contains("fails where it offers"));
    }
}
