//! `unclean-close-evicts`: a session is forgotten where its connection ended without close_notify.

use reprise_model::document::{Finding, Severity};

use super::examined::{Examined, evidence, mechanism};

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for run in examined.runs("unclean-close").chain(examined.runs("reset")) {
        let Some(confidence) = examined.loses(run) else { continue };
        let evidence = evidence(run).map(|line| format!("{}: {line}", run.experiment.varies));
        let title = format!("{} forgets sessions whose connection ends without close_notify", mechanism(run.asked));
        match found.iter_mut().find(|finding| finding.title == title) {
            Some(finding) => {
                finding.confidence = finding.confidence.min(confidence);
                finding.evidence.extend(evidence);
            }
            None => {
                let severity = if examined.has_tickets_instead(run.asked) { Severity::Note } else { Severity::Risk };
                let finding = Finding::new("unclean-close-evicts", severity, confidence, title).by_design();
                found.push(examined.priced(finding.because(evidence), run.asked.tls));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{ID, Scene, TLS12, TLS12_ID, only};
    use reprise_model::Kind;

    #[test]
    fn a_session_that_dies_with_its_connection_is_a_risk() {
        let after = |kind| Scene::resuming(TLS12_ID).run("unclean-close", TLS12_ID, &[Kind::Full, kind]);
        assert_eq!(only(findings, &after(Kind::Full)).unwrap().severity, Severity::Risk);
        assert_eq!(only(findings, &after(ID)), None);
        let beside_tickets = after(Kind::Full).and_resuming(TLS12);
        assert_eq!(only(findings, &beside_tickets).unwrap().severity, Severity::Note);
        let both = after(Kind::Full).run("reset", TLS12_ID, &[Kind::Full, Kind::Full]);
        assert_eq!(only(findings, &both).unwrap().evidence.len(), 2, "one finding, a line for each experiment");
    }

    #[test]
    fn a_server_that_refuses_anyway_forgets_nothing() {
        let scene = Scene::refusing(TLS12_ID).run("unclean-close", TLS12_ID, &[Kind::Full, Kind::Full]);
        assert_eq!(only(findings, &scene), None);
    }
}
