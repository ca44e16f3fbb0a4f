//! `session-outlives-certificate`: a session lives longer than the certificate that its server was authenticated by. No resumption shows
//! the certificate again (RFC 9846 §2.2).

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Facts, Kind, Observation, Version};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::duration;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain],
    security_severity: Some("3.7"),
    measured: Some(Rule { rank: 30, find: MeasuredRule::EachVersion(of_measurement) }),
    ..page!("session-outlives-certificate")
};

fn of_measurement(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    expired(case, version).or_else(|| outlives(case, version))
}

/// A session that was accepted when its certificate had ended.
fn expired(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let (resumed, over) = case.observations.iter().find_map(|resumed| {
        let is_resumed = resumed.facts().is_some_and(|facts| facts.version == version && facts.kind != Kind::Full);
        let offered = resumed.offered.filter(|_| is_resumed)?;
        let origin = case.observations.iter().find(|seen| Some(seen.index) == offered.origin.map(|origin| origin.index))?;
        let age_s = offered.age.0 / 1_000_000_000;
        Some((resumed, age_s.checked_sub(left(origin)?).filter(|over| *over > 0)?))
    })?;
    let title = format!("{version}: sessions are resumed whose certificate has expired");
    let port = resumed.local_port().map_or("no port".to_owned(), |port| format!("port {port}"));
    let evidence = [format!("{port}: resumed {} after the end of the certificate that it was made under", seconds(over))];
    Some(case.found(&CAUSE, Severity::Risk, Confidence::Certain, title).because(evidence))
}

/// Tickets that are given for longer than the certificate has left.
fn outlives(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let (lifetime, left) = case.observations.iter().find_map(|seen| {
        let facts = seen.facts().filter(|facts| facts.version == version)?;
        let left = left(seen)?;
        lifetime(facts).filter(|lifetime| *lifetime > left).map(|lifetime| (lifetime, left))
    })?;
    let title = format!("{version} tickets live longer than the server's certificate");
    let evidence = [format!("They are given for {}; the certificate ends in {}", seconds(lifetime), seconds(left))];
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title).because(evidence))
}

/// Seconds that the certificate had left; `None` for one that had expired before: then nobody relied on it.
fn left(seen: &Observation) -> Option<u64> {
    seen.facts()?.leaf_left_s.filter(|left| *left > 0)
}

/// The longest lifetime of its tickets. Zero is unspecified, or none at all.
fn lifetime(facts: &Facts) -> Option<u64> {
    facts.tickets.iter().map(|ticket| u64::from(ticket.lifetime_s)).max().filter(|lifetime| *lifetime > 0)
}

fn seconds(count: u64) -> String {
    duration(count.saturating_mul(1_000_000_000))
}
