//! `rotation-stalled`: tickets came at first, and later none any more.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::ProbeRecord;

use super::examined::{Examined, cite};

/// So many full handshakes in a row without a ticket, after one with.
const MANY: usize = 3;

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    // Under TLS 1.2 some of the connections ask for no ticket.
    let is_tls13 = |seen: &&ProbeRecord| seen.observation.facts().is_some_and(|facts| facts.version == Version::Tls13);
    let mut full: Vec<&ProbeRecord> = examined.full().filter(is_tls13).collect();
    full.sort_by_key(|seen| seen.observation.index);
    let gives = |seen: &&ProbeRecord| seen.observation.facts().is_some_and(|facts| facts.tickets.count > 0);
    let Some(last) = full.iter().rposition(&gives) else { return Vec::new() };
    let without = full.get(last + 1..).unwrap_or_default();
    if without.len() < MANY || !full.iter().take(last).all(gives) {
        return Vec::new();
    }
    let title = "TLS 1.3 tickets arrived at first, and later none";
    let evidence = full.get(last).into_iter().chain(without.first()).map(|seen| cite(seen));
    let finding = Finding::new("rotation-stalled", Severity::Fault, Confidence::Possible, title);
    vec![finding.because(evidence.chain([format!("{} full handshakes since then without a ticket", without.len())]))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TLS13, only};
    use reprise_model::Kind;

    #[test]
    fn tickets_that_cease_to_come_are_a_fault() {
        let scene = |names: &[u8]| Scene::of("resume", TLS13, &vec![Kind::Full; names.len()]).primes().key_names(names);
        assert!(only(findings, &scene(&[1, 1, 0, 0, 0])).is_some());
        assert_eq!(only(findings, &scene(&[1, 0, 1, 0, 0])), None, "not every connection gives one");
        assert_eq!(only(findings, &scene(&[0, 0, 0, 0, 0])), None);
        assert_eq!(only(findings, &scene(&[1, 1, 1, 0, 0])), None);
    }
}
