//! `node-protocol-differs`: full handshakes of one version choose different cipher suites or groups, as nodes of different
//! configuration do.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Facts, Kind, Version};
use reprise_wire::{CipherSuite, NamedGroup};

use crate::series::{Case, differing};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    [Version::Tls12, Version::Tls13].into_iter().filter_map(|version| finding(case, version)).collect()
}

fn finding(case: &Case<'_>, version: Version) -> Option<Finding> {
    let is_full = |facts: &&Facts| (facts.version, facts.kind) == (version, Kind::Full);
    let full: Vec<&Facts> = case.samples().map(|(_, facts)| facts).filter(is_full).collect();
    let ciphers = differing(full.iter().map(|facts| CipherSuite(facts.cipher).to_string()));
    let groups = differing(full.iter().filter_map(|facts| facts.group).map(|group| NamedGroup(group).to_string()));
    let evidence: Vec<String> = [ciphers, groups].into_iter().flatten().collect();
    let title = format!("Full {version} handshakes were not all alike: cipher suite or group differ");
    (!evidence.is_empty())
        .then(|| case.found("node-protocol-differs", Severity::Risk, Confidence::Possible, title).because(evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};

    #[test]
    fn suites_and_groups_that_change_are_counted() {
        let alike = || Example::new().run("1.3", Kind::Full, 900).facts(|it| it.group = Some(NamedGroup::X25519.0));
        assert_eq!(only(findings, alike()), None);
        let another = |it: &mut reprise_model::Observation| {
            let facts = it.outcome.as_mut().unwrap();
            (facts.cipher, facts.group) = (CipherSuite::TLS_AES_256_GCM_SHA384.0, Some(NamedGroup::SECP256R1.0));
        };
        let finding = only(findings, alike().first(30, another)).unwrap();
        let expected = ["TLS_AES_128_GCM_SHA256 on 70, TLS_AES_256_GCM_SHA384 on 30", "secp256r1 on 30, x25519 on 70"];
        assert_eq!(finding.evidence, expected);
    }
}
