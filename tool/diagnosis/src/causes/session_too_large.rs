//! `session-too-large`: sessions without a client certificate are kept, and those with it are not: it is part of the session, and a
//! cache takes sessions up to some size (nginx: 4 kB).

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Bytes, ClientAuthentication, Facts};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::{Cause, ExaminedRule, Rule};
use crate::diagnose::examined::{Counts, Examined, by_outcome, evidence, mechanism};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["no-certificate-at-all"],
    severities: &[Severity::Fault, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 16, find: ExaminedRule::EachRun("no-certificate-at-all", of_experiments) }),
    ..page!("session-too-large")
};

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    if examined.gains(run).is_none() {
        return of_large_certificate(examined, run);
    }
    let title = format!("{} works without a client certificate and not with it", mechanism(run.asked));
    let with = by_outcome(examined.plain(run.asked)).map(|line| format!("With it, {line}"));
    let without = evidence(run).map(|line| format!("Without, {line}"));
    let severity = if examined.has_tickets_instead(run.asked) { Severity::Note } else { Severity::Fault };
    let finding = CAUSE.finding(severity, Confidence::Possible, title).by_design();
    Some(finding.because(with.chain(without).chain([OTHERWISE.to_owned()])))
}

/// Where the server insists on a certificate, only its size says so: the session would hold it.
fn of_large_certificate(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let plain = examined.plain(run.asked);
    let counts = Counts::of(plain.iter().copied());
    let is_refused_without = run.all().all(|seen| !seen.observation.is_answered_well() || seen.fault.is_some());
    let full: Vec<&ProbeRecord> = examined.full().filter(|seen| seen.observation.asked.tls == run.asked.tls).collect();
    let sends_one = |facts: &Facts| facts.client_authentication == ClientAuthentication::Sent;
    let is_stored = |facts: &Facts| facts.tickets.iter().all(|ticket| !ticket.holds_its_session());
    let facts = || full.iter().filter_map(|seen| seen.observation.facts());
    let sent: Vec<u64> = full.iter().map(|seen| seen.observation.sent.0).collect();
    let sent = reprise_stats::median(&sent).filter(|sent| *sent >= LARGE)?;
    let is_so = is_refused_without
        && counts.refused >= ENOUGH
        && counts.refused == counts.offered()
        && examined.is_steady(run.asked)
        && facts().all(|facts| sends_one(facts) && is_stored(facts));
    let title = format!("{} is refused, and the client certificate may be too large for the cache", mechanism(run.asked));
    let with = by_outcome(plain).map(|line| format!("With the certificate, {line}"));
    let size =
        format!("A full handshake sends {}, most of which are the certificate that the session would hold", Bytes(sent));
    let otherwise = "A server whose cache is off looks the same: a smaller certificate distinguishes them".to_owned();
    let finding = CAUSE.finding(Severity::Fault, Confidence::Possible, title);
    is_so.then(|| finding.because(with.chain([size, otherwise])))
}

/// nginx keeps no session of more than 4 kB; a handshake sends a request and a ClientHello besides.
const LARGE: u64 = 4_000;
/// So many refusals are no accident.
const ENOUGH: usize = 4;

const OTHERWISE: &str = "A server that resumes no client with a certificate looks the same (isolated-by-design): a smaller \
    certificate distinguishes them";
