//! `lifetime-short`: what tickets say of their lifetime, and how long a session was good.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Nanos, Observation, Version};
use reprise_probe::diagnose::{ExperimentRun, Judgement, ProbeRecord, Step};

use super::lifetime_invalid::stated_lifetimes;
use super::{Cause, ExaminedRule, JudgedRule, MeasuredRule, Rule};
use crate::diagnose::examined::{Examined, ResumptionOutcome, came, cite, mechanism};
use crate::judged::oldest_accepted;
use crate::series::{MeasuredCase, of_each_version};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["patience"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::Lifetime, |_| Severity::Risk, title).if_it(ends_as_stated)),
    measured: Some(Rule { rank: 31, find: MeasuredRule::EachVersion(of_measurement) }),
    examined: Some(Rule { rank: 8, find: ExaminedRule::Several(of_experiments) }),
    ..page!("lifetime-short")
};

/// Below, a client that comes back after a few minutes pays in full. nginx's own default is this.
const SHORT_S: u32 = 300;
/// Below, few clients come back in time.
const VERY_SHORT_S: u32 = 60;

fn title(judgement: &Judgement) -> String {
    let mechanism = mechanism(judgement.asked);
    match oldest_accepted(judgement) {
        Some(seconds) => format!("{mechanism}: no session older than {seconds:.1} s was accepted"),
        None => format!("{mechanism}: sessions are refused after a short time"),
    }
}

/// Few clients come back in time, and the number stands on the wire: no experiment adds to it.
fn of_measurement(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let facts = case.observations.iter().filter_map(Observation::facts).filter(|facts| facts.version == version);
    let lifetimes: Vec<u32> =
        facts.flat_map(|facts| facts.tickets.iter().map(|it| it.lifetime_s).collect::<Vec<_>>()).collect();
    let longest = lifetimes.iter().copied().max().filter(|longest| (1..VERY_SHORT_S).contains(longest))?;
    let evidence = [format!("{} tickets state {longest} s at most", lifetimes.len())];
    Some(case.found(&CAUSE, Severity::Risk, Confidence::Certain, stated("", version, longest)).because(evidence))
}

fn stated(some: &str, version: Version, lifetime: u32) -> String {
    format!("{some}{version} tickets last {lifetime} s: a client that returns later makes a full handshake")
}

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let mut found = of_each_version(|version| {
        // RFC 5077 §3.3: zero is unspecified. Under TLS 1.3 it is invalid.
        let ([shortest, longest], evidence) = stated_lifetimes(examined, version)?;
        let (some, lifetime) = match (longest, shortest) {
            (1..SHORT_S, _) => ("", longest),
            // One of several nodes.
            (_, 1..VERY_SHORT_S) => ("Some ", shortest),
            _ => return None,
        };
        let title = stated(some, version, lifetime);
        let found = |severity| CAUSE.finding(severity, Confidence::Certain, title).because([evidence]);
        Some(if lifetime < VERY_SHORT_S { found(Severity::Risk) } else { found(Severity::Note).by_design() })
    });
    let resumes = examined.runs("patience").filter(|run| examined.always_resumes(run.asked));
    found.extend(resumes.filter_map(of_what_was_seen));
    found
}

/// Resumed at once and refused after the wait, though the ticket's own lifetime was not over.
fn of_what_was_seen(run: &ExperimentRun) -> Option<Finding> {
    let offers: Vec<&ProbeRecord> = run.seen.iter().filter(|seen| matches!(seen.step, Step::Resume(_))).collect();
    let (first, later) = offers.split_first()?;
    let is_refused = |seen: &&ProbeRecord| came(seen) == Some(ResumptionOutcome::Refused);
    if came(first) != Some(ResumptionOutcome::Resumed) || later.is_empty() || !is_refused(later.first()?) {
        return None;
    }
    let Nanos(age) = later.first()?.observation.offered?.age;
    let seconds = age / 1_000_000_000;
    let severity = if seconds < u64::from(SHORT_S) { Severity::Risk } else { Severity::Note };
    let title = format!("{}: a session is refused after {seconds} s", mechanism(run.asked));
    let finding = CAUSE.finding(severity, Confidence::Possible, title).by_design();
    Some(finding.because(offers.into_iter().map(cite).chain([OTHERWISE.to_owned()])))
}

const OTHERWISE: &str = "A key change in the meantime (rotation-no-overlap, restart-lost-keys) looks the same: try again \
    with a longer wait, and with a shorter one";

/// Beside nodes that do not share, one of which may lose its keys, only where the tickets state such a lifetime themselves.
fn ends_as_stated(judgement: &Judgement) -> bool {
    let tickets = judgement.observations.iter().filter_map(|seen| seen.facts()?.tickets.iter().next());
    let longest = tickets.map(|ticket| ticket.lifetime_s).max().unwrap_or_default();
    judgement.of(Concluded::NotShared).is_none() || longest < SHORT_S
}
