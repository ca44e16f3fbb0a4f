//! `single-use`: a session resumes once, and is refused when it is offered again. Under TLS 1.3 that is how tickets are meant to
//! be used (RFC 8446 §C.4); under TLS 1.2 it surprises.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord, Step};

use super::examined::{Examined, ResumptionOutcome, by_outcome, came, is_tls13, mechanism};

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    shown(examined).map(|(run, confidence)| finding(examined, run, confidence)).collect()
}

/// Where a session resumed once, and was refused each time after.
pub(super) fn shown<'a>(examined: &Examined<'a>) -> impl Iterator<Item = (&'a ExperimentRun, Confidence)> {
    let serves_once = |seen: &[ProbeRecord]| {
        let again: Vec<&ProbeRecord> = seen.iter().filter(|seen| seen.step == Step::Again).collect();
        again.len() >= 2 && again.iter().all(|seen| came(seen) == Some(ResumptionOutcome::Refused))
    };
    let runs = examined.runs("second-use").filter(|run| examined.always_resumes(run.asked));
    runs.filter_map(move |run| Some((run, Examined::each_time(run, serves_once)?)))
}

fn finding(examined: &Examined<'_>, run: &ExperimentRun, confidence: Confidence) -> Finding {
    let severity = if is_tls13(run.asked) { Severity::Note } else { Severity::Risk };
    let title = format!("A session of {} is accepted only once", mechanism(run.asked));
    let offered = run.all().filter(|seen| seen.observation.offered.is_some());
    let finding = Finding::new("single-use", severity, confidence, title).because(by_outcome(offered)).by_design();
    examined.priced(finding, run.asked.tls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{ID, Scene, TICKET, TLS12_ID, TLS13, only};
    use reprise_model::Kind;

    fn again(asked: reprise_model::Asked, kinds: [Kind; 2]) -> Scene {
        let [one, other] = kinds;
        Scene::resuming(asked).run("second-use", asked, &[Kind::Full, asked.kind, one, other])
    }

    #[test]
    fn a_ticket_that_serves_once_is_no_fault() {
        let finding = only(findings, &again(TLS13, [Kind::Full; 2])).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert_eq!(finding.evidence.len(), 2);
        assert_eq!(only(findings, &again(TLS13, [TICKET; 2])), None);
        assert_eq!(only(findings, &again(TLS13, [TICKET, Kind::Full])), None, "it was taken a second time");
    }

    #[test]
    fn an_id_that_serves_once_is_a_risk() {
        assert_eq!(only(findings, &again(TLS12_ID, [Kind::Full; 2])).unwrap().severity, Severity::Risk);
        assert_eq!(only(findings, &again(TLS12_ID, [ID; 2])), None);
    }
}
