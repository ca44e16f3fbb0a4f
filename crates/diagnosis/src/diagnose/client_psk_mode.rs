//! `client-psk-mode`: the server resumes in a mode that most clients do not offer.

use reprise_model::PskMode;
use reprise_model::document::{Finding, Remedy, Severity};

use super::examined::{Examined, ResumptionOutcome, came, evidence};

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let finding = |run: &reprise_probe::diagnose::ExperimentRun| {
        let confidence = examined.gains(run)?;
        let resumed = run.seen.iter().find(|seen| came(seen) == Some(ResumptionOutcome::Resumed))?;
        let mode = resumed.observation.facts()?.psk_mode?;
        (mode == PskMode::PskKe).then(|| {
            let title = "The server resumes with psk_ke alone, which common clients do not offer";
            let finding = Finding::new("client-psk-mode", Severity::Fault, confidence, title);
            // The cause's own remedies let a server take psk_ke, which this one does.
            let remedy = Remedy::general("Let the server accept psk_dhe_ke, the mode that clients offer");
            finding.because(evidence(run)).fixed_by(vec![remedy])
        })
    };
    examined.runs("both-psk-modes").filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS13, only};
    use reprise_model::Kind;

    #[test]
    fn a_server_that_wants_psk_ke_is_told() {
        let with = |mode| {
            let scene = Scene::refusing(TLS13).run("both-psk-modes", TLS13, &[Kind::Full, TICKET]);
            scene.facts(|facts| facts.psk_mode = Some(mode))
        };
        assert_eq!(only(findings, &with(PskMode::PskKe)).unwrap().severity, Severity::Fault);
        assert_eq!(only(findings, &with(PskMode::PskDheKe)), None);
    }
}
