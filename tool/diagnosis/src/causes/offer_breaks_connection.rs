//! `offer-breaks-connection`: connections complete, and those that offer a session do not.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, FaultName, Observation};
use reprise_probe::diagnose::{Examination, ExperimentRun, Judgement, ProbeRecord, Step, Variation};
use reprise_probe::fleet::MECHANISMS;

use super::{Cause, ExaminedRule, MeasuredRule, Rule, large_client_hello, node_protocol_differs, session_context_unset};
use crate::diagnose::examined::{Examined, ResumptionOutcome, by_outcome, came, evidence, mechanism, named};
use crate::figures::connections;
use crate::likelihood::odds;
use crate::series::MeasuredCase;
use crate::service::service;

pub(super) static CAUSE: Cause = Cause {
    explained_by: &[&node_protocol_differs::CAUSE],
    separated_by: &["resume", "history", "as-large-as-an-offer", "large-client-hello", "records", "segments", "identities"],
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 48, find: MeasuredRule::Several(of_measurement) }),
    examined: Some(Rule { rank: 12, find: ExaminedRule::Several(of_experiments) }),
    ..page!("offer-breaks-connection")
};

/// Experiments in which a ClientHello is unusual and a session offered: what breaks is that combination.
const UNUSUAL: [&str; 6] = ["records", "segments", "identities", "without-sni", "without-alpn", "hello-retry-request"];

/// So many failures, each beside a connection that completed, leave no other reading.
const CERTAIN: usize = 3;

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let mechanisms = examined.runs("resume").map(|run| run.asked);
    let plain = mechanisms.filter(|asked| !session_context_unset::is_shown(examined.case.observations, *asked));
    let mut found: Vec<Finding> = plain.filter_map(|asked| of_plain_offers(examined, asked)).collect();
    let unusual = UNUSUAL.iter().flat_map(|name| examined.runs(name));
    found.extend(unusual.filter_map(|run| of_unusual_offer(examined, run)));
    found
}

fn of_plain_offers(examined: &Examined<'_>, asked: Asked) -> Option<Finding> {
    let seen = unvaried(examined.examination, asked);
    let failed = seen.iter().copied().filter(|seen| seen.observation.is_failed_offer());
    let mut finding = of_offers(&Offers {
        asked,
        seen: seen.iter().map(|seen| &seen.observation).collect(),
        judgement: examined.case.judgements.iter().find(|it| it.asked == asked),
        size: size(examined, asked),
    })?;
    finding.evidence.extend(by_outcome(failed));
    Some(finding)
}

/// Of each mechanism, where nothing else explains it.
fn of_measurement(case: &MeasuredCase<'_>) -> Vec<Finding> {
    let plain = MECHANISMS.into_iter().filter(|asked| !session_context_unset::is_shown(case.observations, *asked));
    plain.filter_map(|asked| of_measured_offers(case, asked)).collect()
}

fn of_measured_offers(case: &MeasuredCase<'_>, asked: Asked) -> Option<Finding> {
    let is_of_this =
        |seen: &&Observation| seen.asked.tls == asked.tls && seen.offered.is_none_or(|offered| offered.kind == asked.kind);
    let seen: Vec<&Observation> = case.observations.iter().filter(is_of_this).collect();
    let judgement = seen.iter().any(|seen| seen.is_failed_offer()).then(|| case.judgement(asked))?;
    let finding = of_offers(&Offers { asked, seen, judgement: Some(&judgement), size: None })?;
    Some(finding.fixed_by(CAUSE.remedies_in(service(&case.figures.target))))
}

/// Connections of one mechanism, those that offer nothing among them.
struct Offers<'a> {
    asked: Asked,
    seen: Vec<&'a Observation>,
    judgement: Option<&'a Judgement>,
    /// What shows that it is a matter of the ClientHello's size.
    size: Option<String>,
}

fn of_offers(of: &Offers<'_>) -> Option<Finding> {
    let (offers, full): (Vec<&Observation>, Vec<&Observation>) = of.seen.iter().partition(|seen| seen.offered.is_some());
    let failed: Vec<&Observation> = offers.iter().copied().filter(|seen| seen.is_failed_offer()).collect();
    let (first, last) = failed.first().zip(failed.last())?;
    // A target that had stopped to answer altogether says nothing of offers.
    if !full.iter().any(|seen| seen.facts().is_some() && seen.index > first.index) {
        return None;
    }
    let all = failed.len() == offers.iter().filter(|seen| seen.is_failed_offer() || is_conclusive(seen)).count();
    let full_completed = full.iter().filter(|seen| seen.facts().is_some()).count();
    let concluded = of.judgement.and_then(|it| it.of(Concluded::OfferBreaks));
    let (severity, confidence) = match (concluded, of.judgement, all) {
        (_, _, true) if failed.len() >= CERTAIN && full_completed == full.len() => (Severity::Fault, Confidence::Certain),
        (Some(conclusion), ..) if conclusion.confidence != Confidence::Possible => (Severity::Fault, conclusion.confidence),
        (_, None, true) => (Severity::Fault, Confidence::Likely),
        // A node that is down, a limit on the rate.
        (None, _, false) => return None,
        // Two of two may be chance.
        _ => (Severity::Risk, Confidence::Possible),
    };
    let how = named(last.outcome.err().unwrap_or(FaultName::Unconfirmed));
    let what = if all { "the connection" } else { "some connections" };
    let reason = if of.size.is_some() { ", since its ClientHello is larger" } else { "" };
    let title = format!("Offering a session breaks {what}{reason}: {}, {how}", mechanism(of.asked));
    let counted = format!(
        "{} of {} that offered a session failed, {full_completed} of {} that offered none completed",
        failed.len(),
        connections(offers.len() as u64),
        full.len(),
    );
    let broken = failed.iter().filter(|seen| seen.is_broken_resumption()).count();
    let broken = (broken > 0).then(|| format!("{broken} of them failed after the server had accepted the session"));
    let likelihood = of.judgement.zip(concluded).map(|(judgement, conclusion)| odds(judgement, conclusion));
    let evidence = [Some(counted), broken, of.size.clone(), likelihood].into_iter().flatten();
    Some(CAUSE.finding(severity, confidence, title).because(evidence).under([of.asked]))
}

/// Whether it completed, with no error that leaves open whether the session was why.
fn is_conclusive(seen: &Observation) -> bool {
    seen.facts().is_some() && seen.is_answered_well()
}

/// The connections of this mechanism in which nothing was varied, those that the judge chose too.
fn unvaried(examination: &Examination, asked: Asked) -> Vec<&ProbeRecord> {
    let is_of_the_judge = |run: &&ExperimentRun| run.experiment.is_plain() || run.experiment.is_chosen();
    let runs = examination.runs.iter().filter(|run| run.asked == asked);
    runs.filter(is_of_the_judge).flat_map(|run| &run.seen).collect()
}

/// What shows that connections fail without a session too where the ClientHello is as large, and never where it is not.
fn size(examined: &Examined<'_>, asked: Asked) -> Option<String> {
    let run = examined.runs("as-large-as-an-offer").find(|run| run.asked == asked)?;
    let of = |variation| run.all().filter(move |seen| seen.step == Step::Control(variation));
    let large = || of(Variation::AsLargeAsAnOffer);
    let failed = large().filter(|seen| seen.fault.is_some()).count();
    let is_of_size = failed > 1 && of(Variation::Plain).all(|seen| seen.fault.is_none());
    let sent = large().map(|seen| seen.observation.sent).max()?;
    let of_all = connections(large().count() as u64);
    is_of_size
        .then(|| format!("{failed} of {of_all} without a session failed too where the ClientHello was as large ({sent})"))
}

fn of_unusual_offer(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    if !examined.always_resumes(run.asked) || large_client_hello::is_shown(examined, run.asked) {
        return None;
    }
    let name = failure(&run.seen)?;
    let confidence = Examined::each_time(run, |seen| failure(seen).is_some())?;
    // An alert for a name that is missing is an answer to that.
    if run.experiment.name == "without-sni" && name.is_refusal() {
        return None;
    }
    let title =
        format!("{}: a session is refused with an error ({}): {}", mechanism(run.asked), named(name), run.experiment.varies);
    let finding = CAUSE.finding(Severity::Risk, confidence, title);
    Some(finding.because(evidence(run)).under([run.asked]))
}

/// What an offer failed with, where a connection that offers nothing completes under the same variation.
fn failure(seen: &[ProbeRecord]) -> Option<FaultName> {
    let failed = seen.iter().find(|seen| matches!(came(seen), Some(ResumptionOutcome::Failed(_))))?;
    let Step::Resume(variation) = failed.step else { return None };
    let controls = || seen.iter().filter(|it| [Step::Prime(variation), Step::Control(variation)].contains(&it.step));
    let completes = controls().next().is_some() && controls().all(|it| it.fault.is_none());
    completes.then_some(failed.observation.outcome.err()).flatten()
}
