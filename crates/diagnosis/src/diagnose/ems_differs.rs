//! `ems-differs`: a server that resumes a session with the extended master secret where it may not. RFC 7627 §5.3: it must abort
//! a resumption without the extension, and must not resume a session that was made without it where the extension is offered.

use reprise_model::document::{Confidence, Finding, Severity};

use super::examined::{Examined, ResumptionOutcome, by_outcome, came, mechanism};

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for run in examined.runs("without-extended-master-secret") {
        // A server that knows the extension not at all has nothing to compare.
        let knows =
            run.seen.first().and_then(|seen| seen.observation.facts()).is_some_and(|facts| facts.extended_master_secret);
        let offered = run.seen.iter().filter_map(came).next();
        let (severity, confidence, title) = match offered {
            Some(ResumptionOutcome::Resumed) if knows => (
                Severity::Risk,
                Confidence::Likely,
                "resumes a session without the extended master secret that it was made with",
            ),
            Some(ResumptionOutcome::Refused) if knows && examined.always_resumes(run.asked) => (
                Severity::Note,
                Confidence::Possible,
                "answers a resumption without extended_master_secret with a full handshake, not with an alert",
            ),
            _ => continue,
        };
        let title = format!("{}: the server {title}", mechanism(run.asked));
        let finding = Finding::new("ems-differs", severity, confidence, title);
        found.push(finding.because(by_outcome(&run.seen).chain([RFC.to_owned()])));
    }
    found
}

const RFC: &str = "RFC 7627, section 5.3, has the server abort such a handshake";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS12, only};
    use reprise_model::{FaultName, Kind};

    fn without(kind: Kind) -> Scene {
        let scene = Scene::resuming(TLS12).run("without-extended-master-secret", TLS12, &[Kind::Full, kind]);
        scene.facts(|facts| facts.extended_master_secret = true)
    }

    #[test]
    fn resuming_without_the_extension_is_a_risk() {
        assert_eq!(only(findings, &without(TICKET)).unwrap().severity, Severity::Risk);
        assert_eq!(only(findings, &without(Kind::Full)).unwrap().severity, Severity::Note);
    }

    #[test]
    fn the_alert_that_the_rfc_asks_for_is_no_finding() {
        assert_eq!(only(findings, &without(TICKET).last_fails(FaultName::Alert(40))), None);
    }
}
