//! `node-certificate-differs`: tickets under one key are refused where another certificate answers than the one that they were
//! given beside: servers on OpenSSL bind sessions to it. To share the ticket key does not help: it is shared.

use std::collections::{BTreeMap, BTreeSet};

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, Facts, KeyName, Kind, Version};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::examined::{Examined, ResumptionOutcome, came, cite};

/// So many refusals, each where the certificate had changed, are no coincidence.
const ENOUGH: usize = 3;

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    [Version::Tls12, Version::Tls13].into_iter().filter_map(|version| finding(examined, version)).collect()
}

fn finding(examined: &Examined<'_>, version: Version) -> Option<Finding> {
    let all: Vec<&ProbeRecord> = examined.examination.runs.iter().flat_map(ExperimentRun::all).collect();
    let leaves: BTreeMap<u32, [u8; 32]> =
        all.iter().filter_map(|seen| Some((seen.observation.index, leaf(seen)?))).collect();
    let facts = all.iter().filter_map(|seen| seen.observation.facts()).filter(|facts| facts.version == version);
    let keys: BTreeSet<KeyName> = facts.flat_map(|it| it.tickets.iter().map(|it| it.key_name).collect::<Vec<_>>()).collect();
    let plain = examined.plain(Asked { tls: version, kind: Kind::Ticket });
    let refused: Vec<&ProbeRecord> =
        plain.iter().copied().filter(|seen| came(seen) == Some(ResumptionOutcome::Refused)).collect();
    // Of a session that a resumed connection gave, nobody saw the certificate.
    let compared: Vec<(&ProbeRecord, bool)> = refused
        .into_iter()
        .filter_map(|seen| Some((seen, leaves.get(&seen.observation.offered?.origin?.index)? != &leaf(seen)?)))
        .collect();
    if keys.len() != 1 || compared.len() < ENOUGH || compared.iter().any(|(_, differs)| !differs) {
        return None;
    }
    let title = format!(
        "{version} tickets are refused where another certificate is presented: nodes with different \
        certificates"
    );
    let counted = format!(
        "{} refusals, each by another certificate than the one that the ticket was given beside; all tickets come under one key",
        compared.len()
    );
    let cited = compared.into_iter().take(2).map(|(seen, _)| cite(seen));
    let finding = Finding::new("node-certificate-differs", Severity::Risk, Confidence::Likely, title);
    Some(finding.because(std::iter::once(counted).chain(cited)))
}

/// The certificate that was shown: in full handshakes alone.
fn leaf(seen: &ProbeRecord) -> Option<[u8; 32]> {
    let shows = |facts: &&Facts| facts.kind == Kind::Full;
    seen.observation.facts().filter(shows)?.leaf
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TLS13, only};

    /// Three tickets that are refused, under keys of these names; each connection shows its own certificate, or all the same.
    fn scene(keys: [u8; 8], leaf: impl Fn(u32) -> [u8; 32]) -> Scene {
        Scene::refusing(TLS13).key_names(&keys).leaves(leaf)
    }

    #[test]
    fn a_ticket_of_another_certificate_is_refused_for_that() {
        let own = |index: u32| [u8::try_from(index).unwrap(); 32];
        assert_eq!(only(findings, &scene([1; 8], own)).unwrap().severity, Severity::Risk);
        assert_eq!(only(findings, &scene([1; 8], |_| [7; 32])), None, "the certificate is the same");
        assert_eq!(only(findings, &scene([1, 2, 1, 2, 1, 2, 1, 2], own)), None, "nodes with a key each");
    }
}
