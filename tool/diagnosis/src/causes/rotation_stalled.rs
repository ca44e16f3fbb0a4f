//! `rotation-stalled`: tickets came at first, and later none any more.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::ProbeRecord;

use super::{Cause, ExaminedRule, Rule};
use crate::diagnose::examined::{Examined, cite};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault],
    confidences: &[Confidence::Possible],
    examined: Some(Rule { rank: 14, find: ExaminedRule::Once(of_experiments) }),
    ..page!("rotation-stalled")
};

/// So many full handshakes in a row without a ticket, after one with.
const MANY: usize = 3;

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    // Under TLS 1.2 some of the connections ask for no ticket.
    let is_tls13 = |seen: &&ProbeRecord| seen.observation.facts().is_some_and(|facts| facts.version == Version::Tls13);
    let mut full: Vec<&ProbeRecord> = examined.full().filter(is_tls13).collect();
    full.sort_by_key(|seen| seen.observation.index);
    let gives = |seen: &&ProbeRecord| seen.observation.facts().is_some_and(|facts| facts.tickets.count > 0);
    let last = full.iter().rposition(&gives)?;
    let without = full.get(last + 1..).unwrap_or_default();
    if without.len() < MANY || !full.iter().take(last).all(gives) {
        return None;
    }
    let title = "TLS 1.3 tickets arrived at first, and later none";
    let evidence = full.get(last).into_iter().chain(without.first()).map(|seen| cite(seen));
    let finding = CAUSE.finding(Severity::Fault, Confidence::Possible, title);
    Some(finding.because(evidence.chain([format!("{} full handshakes since then without a ticket", without.len())])))
}
