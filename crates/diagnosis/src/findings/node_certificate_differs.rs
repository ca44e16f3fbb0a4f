//! `node-certificate-differs`: full handshakes of one version show different certificates, as of nodes behind one address. One
//! median of them all tells of none of them.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Facts, Kind, Version};

use crate::series::{Case, differing};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    [Version::Tls12, Version::Tls13].into_iter().filter_map(|version| finding(case, version)).collect()
}

fn finding(case: &Case<'_>, version: Version) -> Option<Finding> {
    // A resumed handshake shows none.
    let is_full = |facts: &&Facts| (facts.version, facts.kind) == (version, Kind::Full);
    let full: Vec<&Facts> = case.samples().map(|(_, facts)| facts).filter(is_full).collect();
    let keys = differing(full.iter().filter_map(|facts| facts.peer_key).map(|key| key.to_string()));
    let leaves = differing(full.iter().filter_map(|facts| facts.leaf.as_ref()).map(beginning));
    let evidence: Vec<String> = [keys.clone(), leaves.map(|leaves| format!("SHA-256 of the certificates: {leaves}"))]
        .into_iter()
        .flatten()
        .collect();
    let title = format!("Full {version} handshakes were not all alike: the server's certificates differ");
    (!evidence.is_empty())
        .then(|| case.found("node-certificate-differs", Severity::Risk, Confidence::Possible, title).because(evidence))
}

/// As much of a fingerprint as tells certificates apart.
fn beginning(leaf: &[u8; 32]) -> String {
    leaf.iter().take(4).map(|byte| format!("{byte:02x}")).collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};
    use reprise_model::PeerKey;

    fn alike() -> Example {
        let alike = |it: &mut Facts| (it.peer_key, it.leaf) = (Some(PeerKey::P256), Some([1; 32]));
        Example::new().run("1.3", Kind::Full, 900).facts(alike)
    }

    #[test]
    fn keys_that_change_between_connections_are_counted() {
        assert_eq!(only(findings, alike().run("1.3", Kind::Ticket, 200)), None);
        let another = |it: &mut reprise_model::Observation| {
            it.outcome.as_mut().unwrap().peer_key = Some(PeerKey::Rsa { bits: 2048 });
        };
        let finding = only(findings, alike().first(1, another)).unwrap();
        assert!(finding.title.starts_with("Full TLS 1.3 handshakes were not all alike"));
        assert_eq!(finding.evidence, ["p-256 on 99, rsa-2048 on 1"]);
    }

    #[test]
    fn another_certificate_for_the_same_key_kind_is_seen() {
        let another = |it: &mut reprise_model::Observation| it.outcome.as_mut().unwrap().leaf = Some([0xab; 32]);
        let finding = only(findings, alike().first(40, another)).unwrap();
        assert_eq!(finding.evidence, ["SHA-256 of the certificates: 01010101… on 60, abababab… on 40"]);
    }
}
