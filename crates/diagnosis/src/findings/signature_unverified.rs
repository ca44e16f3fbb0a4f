//! `signature-unverified`: verification was skipped on request, and the signature could not be checked either.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Facts, PeerKey, Verification};

use crate::figures::connections;
use crate::series::Case;

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let is_unverified = |facts: &&Facts| facts.verification == Verification::SignatureUnverified;
    let unverified: Vec<&Facts> = case.samples().map(|(_, facts)| facts).filter(is_unverified).collect();
    let Some(first) = unverified.first() else { return Vec::new() };
    let key = first.peer_key.unwrap_or(PeerKey::Unknown);
    let title = format!("The server's signature is unverified: its {key} key is too weak for the crypto library");
    let count = connections(unverified.len() as u64);
    let finding = Finding::new("signature-unverified", Severity::Risk, Confidence::Certain, title);
    vec![finding.because([format!("Unverified on {count}: anyone on the path could have answered")])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};
    use reprise_model::Kind;

    #[test]
    fn the_key_that_no_library_verifies_is_named() {
        let weak = Example::new().run("1.2", Kind::Full, 900).facts(|it| {
            it.verification = Verification::SignatureUnverified;
            it.peer_key = Some(PeerKey::Rsa { bits: 1024 });
        });
        assert!(only(findings, weak).unwrap().title.contains("its rsa-1024 key is too weak"));
        let skipped = Example::new().run("1.2", Kind::Full, 900).facts(|it| it.verification = Verification::ChainSkipped);
        assert_eq!(only(findings, skipped), None);
    }
}
