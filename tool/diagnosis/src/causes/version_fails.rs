//! `version-fails`: the server chooses a version, and no connection gets to its end under it, while another version works.

use std::collections::BTreeMap;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Observation, Version};

use super::{Cause, MeasuredRule, Rule};
use crate::diagnose::examined::named;
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 0, find: MeasuredRule::EachVersion(of_measurement) }),
    ..page!("version-fails")
};

/// So many connections are enough.
const CERTAIN: usize = 6;
const LIKELY: usize = 3;

/// From so many bytes on, most of which are the client's certificate, its length is worth telling.
const LONG: u64 = 16_000;

/// Whether a finding is this one, of this version.
pub(crate) fn is_of(finding: &Finding, version: Version) -> bool {
    finding.id == CAUSE.slug && finding.title.starts_with(&beginning(version))
}

fn beginning(version: Version) -> String {
    format!("Every {version} connection fails")
}

fn of_measurement(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let of_version: Vec<&Observation> = case.observations.iter().filter(|seen| seen.asked.tls == version).collect();
    let works = case.observations.iter().find(|seen| seen.asked.tls != version && seen.facts().is_some())?;
    let failed: Vec<&Observation> = of_version
        .iter()
        .copied()
        .filter(|seen| seen.chosen == Some(version) && seen.outcome.is_err_and(|name| name.is_the_targets()))
        .collect();
    let last = failed.last()?;
    if of_version.iter().any(|seen| seen.facts().is_some()) {
        return None;
    }
    let was_retried = failed.iter().any(|seen| seen.index > works.index);
    let confidence = match failed.len() {
        CERTAIN.. if was_retried => Confidence::Certain,
        LIKELY.. => Confidence::Likely,
        _ => Confidence::Possible,
    };
    let when = if last.phases.tls.is_some() { "after its handshake" } else { "in its handshake, after the ServerHello" };
    let how = named(last.outcome.err()?);
    let title = format!("{} {when} ({how}), and {} works", beginning(version), works.asked.tls);
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    failed.iter().filter_map(|seen| seen.outcome.err()).for_each(|name| *names.entry(named(name)).or_default() += 1);
    let names: Vec<String> = names.iter().map(|(name, count)| format!("{name} on {count}")).collect();
    let complete = case.observations.iter().filter(|seen| seen.asked.tls != version && seen.facts().is_some()).count();
    let counted = format!(
        "{} of {} in which the server chose {version} failed: {}",
        failed.len(),
        connections(failed.len() as u64),
        names.join(", ")
    );
    let sent = last.sent.0;
    let chain = (sent >= LONG).then(|| {
        format!(
            "The client had sent {sent} bytes by then, most of them its certificate chain: with a shorter one it may work"
        )
    });
    let others = format!("{} of {} completed", connections(complete as u64), works.asked.tls);
    let evidence = [Some(counted), Some(others), chain].into_iter().flatten();
    Some(case.found(&CAUSE, Severity::Fault, confidence, title).because(evidence))
}
