//! `offer-breaks-connection`: connections complete, and those that offer a session do not.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, FaultName};
use reprise_probe::diagnose::{Examination, ExperimentRun, ProbeRecord, Step};

use super::examined::{Counts, Examined, ResumptionOutcome, by_outcome, came, evidence, mechanism, named};
use super::session_context_unset;
use crate::figures::connections;

/// Experiments in which a ClientHello is unusual and a session offered: what breaks is that combination.
const UNUSUAL: [&str; 6] = ["records", "segments", "identities", "without-sni", "without-alpn", "hello-retry-request"];

/// So many failures, each beside a connection that completed, leave no other reading.
const CERTAIN: usize = 3;

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let mechanisms = examined.runs("resume").map(|run| run.asked);
    let plain = mechanisms.filter(|asked| !session_context_unset::is_shown(examined, *asked));
    let mut found: Vec<Finding> = plain.filter_map(|asked| of_plain_offers(examined, asked)).collect();
    let unusual = UNUSUAL.iter().flat_map(|name| examined.runs(name));
    found.extend(unusual.filter_map(|run| of_unusual_offer(examined, run)));
    found
}

fn of_plain_offers(examined: &Examined<'_>, asked: Asked) -> Option<Finding> {
    let offers = examined.plain(asked);
    let failed: Vec<&ProbeRecord> =
        offers.iter().copied().filter(|seen| matches!(came(seen), Some(ResumptionOutcome::Failed(_)))).collect();
    let last = failed.last()?;
    let full = full_handshakes(examined.examination, asked);
    // A target that had stopped to answer altogether says nothing of offers.
    if !full
        .iter()
        .any(|seen| seen.fault.is_none() && seen.observation.index > failed.first().map_or(0, |it| it.observation.index))
    {
        return None;
    }
    let all = failed.len() == Counts::of(offers.iter().copied()).offered();
    let full_completed = full.iter().all(|seen| seen.fault.is_none());
    let (severity, confidence) = match (all, full_completed) {
        (true, true) if failed.len() >= CERTAIN => (Severity::Fault, Confidence::Certain),
        (true, _) => (Severity::Fault, Confidence::Likely),
        (false, _) => (Severity::Risk, Confidence::Possible),
    };
    let how = named(last.observation.outcome.err().unwrap_or(FaultName::Unconfirmed));
    let title = format!("Offering a session breaks the connection: {}, {how}", mechanism(asked));
    let mut evidence = vec![format!(
        "{} of {} that offered a session failed, {} of {} that offered none completed",
        failed.len(),
        connections(offers.len() as u64),
        full.iter().filter(|seen| seen.fault.is_none()).count(),
        full.len(),
    )];
    evidence.extend(by_outcome(failed.iter().copied()));
    Some(Finding::new("offer-breaks-connection", severity, confidence, title).because(evidence))
}

fn full_handshakes(examination: &Examination, asked: Asked) -> Vec<&ProbeRecord> {
    let runs = examination.runs.iter().filter(|run| run.experiment.is_plain() && run.asked == asked);
    runs.flat_map(|run| &run.seen).filter(|seen| matches!(seen.step, Step::Prime(_))).collect()
}

fn of_unusual_offer(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    if !examined.always_resumes(run.asked) {
        return None;
    }
    let failure = |seen: &[ProbeRecord]| {
        seen.iter().find(|seen| matches!(came(seen), Some(ResumptionOutcome::Failed(_))))?.observation.outcome.err()
    };
    let name = failure(&run.seen)?;
    let confidence = Examined::each_time(run, |seen| failure(seen).is_some())?;
    // An alert for a name that is missing is an answer to that.
    if run.experiment.name == "without-sni" && name.is_refusal() {
        return None;
    }
    let title =
        format!("{}: a session is refused with an error ({}): {}", mechanism(run.asked), named(name), run.experiment.varies);
    let finding = Finding::new("offer-breaks-connection", Severity::Risk, confidence, title);
    Some(finding.because(evidence(run)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS13, only};
    use reprise_model::Kind;

    #[test]
    fn offers_that_always_fail_beside_full_handshakes_are_certain() {
        let scene = Scene::resuming(TLS13).resumptions_fail(FaultName::Alert(40));
        let finding = only(findings, &scene).unwrap();
        assert_eq!((finding.severity, finding.confidence), (Severity::Fault, Confidence::Certain));
        assert!(finding.title.contains("handshake_failure"), "{}", finding.title);
    }

    #[test]
    fn a_target_that_fell_silent_is_not_diagnosed() {
        let scene = Scene::resuming(TLS13).everything_fails_from(1, FaultName::Timeout);
        assert_eq!(only(findings, &scene), None);
    }

    #[test]
    fn what_breaks_only_where_it_is_unusual_says_so() {
        let scene = Scene::resuming(TLS13).run("identities", TLS13, &[Kind::Full, TICKET]).last_fails(FaultName::Alert(50));
        let finding = only(findings, &scene).unwrap();
        assert_eq!(finding.severity, Severity::Risk);
        assert!(finding.title.contains("40 PSK identities"), "{}", finding.title);
    }
}
