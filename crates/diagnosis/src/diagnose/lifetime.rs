//! `lifetime-invalid` and `lifetime-short`: what tickets say of their lifetime, and how long a session was good.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, Nanos, Version};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord, Step};

use super::examined::{Examined, ResumptionOutcome, came, cite, mechanism};

/// RFC 8446 §4.6.1: the most that a ticket may say, in seconds.
const MOST_S: u32 = 604_800;
/// Below, a client that comes back after a few minutes pays in full. nginx's own default is this.
const SHORT_S: u32 = 300;

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let said = [Version::Tls12, Version::Tls13].into_iter().filter_map(|version| of_what_is_said(examined, version));
    let resumes = examined.runs("patience").filter(|run| examined.always_resumes(run.asked));
    let seen = resumes.filter_map(of_what_was_seen);
    said.chain(seen).collect()
}

fn of_what_is_said(examined: &Examined<'_>, version: Version) -> Option<Finding> {
    let facts = examined.full().filter_map(|seen| seen.observation.facts()).filter(|facts| facts.version == version);
    let lifetimes: Vec<u32> =
        facts.flat_map(|facts| facts.tickets.iter().map(|it| it.lifetime_s).collect::<Vec<_>>()).collect();
    let (shortest, longest) = (*lifetimes.iter().min()?, *lifetimes.iter().max()?);
    let evidence = [format!("{} tickets, with lifetimes from {shortest} to {longest} s", lifetimes.len())];
    let finding = match version {
        Version::Tls13 if longest == 0 => {
            let title = "TLS 1.3 tickets have a lifetime of 0 s: clients must discard them immediately";
            Finding::new("lifetime-invalid", Severity::Fault, Confidence::Certain, title)
        }
        Version::Tls13 if longest > MOST_S => {
            let title =
                format!("TLS 1.3 tickets have a lifetime of {longest} s, more than the seven days that RFC 8446 allows");
            Finding::new("lifetime-invalid", Severity::Risk, Confidence::Certain, title)
        }
        // RFC 5077 §3.3: zero is unspecified.
        _ if longest > 0 && longest < SHORT_S => {
            let title = format!("{version} tickets last {longest} s: a client that returns later makes a full handshake");
            Finding::new("lifetime-short", Severity::Note, Confidence::Certain, title).by_design()
        }
        _ => return None,
    };
    Some(finding.because(evidence))
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
    let title = format!("{}: a session is refused after {seconds} s", mechanism(asked(run)));
    let finding = Finding::new("lifetime-short", severity, Confidence::Possible, title).by_design();
    Some(finding.because(offers.into_iter().map(cite).chain([OTHERWISE.to_owned()])))
}

fn asked(run: &ExperimentRun) -> Asked {
    run.asked
}

const OTHERWISE: &str = "A key change in the meantime (rotation-no-overlap, restart-lost-keys) looks the same: try again \
    with another --patience";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS12, TLS13, only, ticket_of};
    use reprise_model::Kind;

    fn saying(asked: Asked, lifetime_s: u32) -> Scene {
        Scene::resuming(asked).facts(|facts| facts.tickets.add(ticket_of(lifetime_s)))
    }

    #[test]
    fn zero_and_more_than_seven_days_are_invalid_under_tls13_alone() {
        let invalid = |lifetime_s| only(findings, &saying(TLS13, lifetime_s)).unwrap();
        assert_eq!((invalid(0).severity, &*invalid(0).id), (Severity::Fault, "lifetime-invalid"));
        assert_eq!(invalid(604_801).severity, Severity::Risk);
        assert_eq!(only(findings, &saying(TLS13, 604_800)), None);
        assert_eq!(only(findings, &saying(TLS12, 0)), None, "unspecified");
    }

    #[test]
    fn less_than_five_minutes_is_a_note() {
        assert_eq!(only(findings, &saying(TLS13, 299)).unwrap().severity, Severity::Note);
        assert_eq!(only(findings, &saying(TLS13, 300)), None);
    }

    #[test]
    fn a_session_that_dies_while_waited_for_is_seen() {
        let waited = |kind| Scene::resuming(TLS13).run("patience", TLS13, &[Kind::Full, TICKET, Kind::Full, kind, TICKET]);
        let finding = only(findings, &waited(Kind::Full)).unwrap();
        assert_eq!((&*finding.id, finding.confidence), ("lifetime-short", Confidence::Possible));
        assert_eq!(only(findings, &waited(TICKET)), None);
    }
}
