//! `node-protocol-differs`: a version is spoken on some connections and refused on others, as by nodes of different configuration.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{FaultName, Version};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::examined::{Examined, cite};
use crate::figures::connections;

/// RFC 8446 §6.2: protocol_version.
const REFUSES: FaultName = FaultName::Alert(70);

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    [Version::Tls12, Version::Tls13].into_iter().filter_map(|version| finding(examined, version)).collect()
}

fn finding(examined: &Examined<'_>, version: Version) -> Option<Finding> {
    let runs = examined.examination.runs.iter().filter(|run| run.asked.tls == version);
    let full: Vec<&ProbeRecord> =
        runs.flat_map(ExperimentRun::all).filter(|seen| seen.observation.offered.is_none()).collect();
    let refused: Vec<&ProbeRecord> = full.iter().copied().filter(|seen| seen.observation.outcome == Err(REFUSES)).collect();
    let completed = full.iter().filter(|seen| seen.observation.outcome.is_ok()).count();
    if refused.is_empty() || completed == 0 {
        return None;
    }
    let title = format!("{version} is spoken on some connections and refused on others: nodes of different configuration");
    let counted = format!("Of {}, {completed} completed and {} were refused", connections(full.len() as u64), refused.len());
    let evidence = std::iter::once(counted).chain(refused.into_iter().take(2).map(cite));
    Some(Finding::new("node-protocol-differs", Severity::Risk, Confidence::Likely, title).because(evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TLS13, only};

    #[test]
    fn a_version_that_is_refused_now_and_then_is_told() {
        assert_eq!(only(findings, &Scene::resuming(TLS13)), None);
        let never = Scene::resuming(TLS13).everything_fails_from(0, REFUSES);
        assert_eq!(only(findings, &never), None, "it is not spoken");
        let sometimes = Scene::resuming(TLS13).everything_fails_from(4, REFUSES);
        assert_eq!(only(findings, &sometimes).unwrap().severity, Severity::Risk);
        let other = Scene::resuming(TLS13).everything_fails_from(4, FaultName::Timeout);
        assert_eq!(only(findings, &other), None);
    }
}
