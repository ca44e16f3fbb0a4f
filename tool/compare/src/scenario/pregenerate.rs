//! What does work ahead of a handshake save it: the server's key pair, and certificates that the client knows?

use reprise_model::document::CompareCase;
use reprise_model::{KeyPairs, Kind, ServerChain, Version};
use reprise_pairs::{Case, Key};
use reprise_wire::NamedGroup;

use super::{BOTH, Scenario};
use crate::conclusion::{costs_of, saves};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "pregenerate",
    help: "Work ahead: the server's key pair made ahead or reused; chains of 1 to 3 certificates, stored, cached",
    versions: BOTH,
    keys: &[Key::RSA_2048, Key::P256],
    groups: |key| {
        if key.is_rsa() { &[NamedGroup::FFDHE2048, NamedGroup::SECP256R1] } else { &[NamedGroup::SECP256R1] }
    },
    kinds: &[(Kind::Full, false)],
    beside: |version, key, group| {
        let full = Case::new(version, Kind::Full, key, group, false);
        let psk = Case::by_psk(version, group).filter(|_| version == Version::Tls13);
        let with_pairs = |case: Case| [KeyPairs::Ahead, KeyPairs::Reused].map(|pairs| case.with_key_pairs(pairs));
        let mut cases: Vec<Case> = full.into_iter().flat_map(with_pairs).collect();
        cases.extend(psk.into_iter().flat_map(|psk| [psk, psk.with_key_pairs(KeyPairs::Ahead)]));
        // What a chain costs does not depend on the version or the group.
        let chains = ServerChain::ALL.into_iter().filter(|chain| *chain != ServerChain::One);
        let base = full.filter(|full| version == Version::Tls13 && !full.is_of_finite_field());
        cases.extend(base.into_iter().flat_map(|full| chains.clone().map(move |chain| full.with_chain(chain))));
        cases
    },
    compares: |from, to| {
        let pairs = from.key_pairs == KeyPairs::Fresh && *to == from.with_key_pairs(to.key_pairs);
        let chain = *to == from.with_chain(to.chain) && is_chain_change(from.chain, to.chain);
        from != to && (pairs || chain)
    },
    concludes: |document| {
        let group = |name: &'static str| move |case: &CompareCase| case.group == name && case.tls == Version::Tls13;
        let ahead = |is_in_group: &dyn Fn(&CompareCase) -> bool, what: &str| {
            let how = format!("The server's key pair made ahead in {what} under TLS 1.3");
            saves(document, &how, |_, to| to.key_pairs == KeyPairs::Ahead && is_in_group(to))
        };
        let chain = |to_chain: ServerChain| {
            move |from: &CompareCase, to: &CompareCase| is_chain_change(from.chain, to.chain) && to.chain == to_chain
        };
        [
            ahead(&group("ffdhe2048"), "ffdhe2048"),
            ahead(&group("secp256r1"), "secp256r1"),
            costs_of(document, "A chain of 3 certificates instead of 1", chain(ServerChain::Three)),
            saves(document, "A chain that the client has verified before", chain(ServerChain::Cached)),
        ]
        .into_iter()
        .flatten()
        .collect()
    },
};

/// What a stored or cached certificate saves is seen beside the chain of two that it stands for.
fn is_chain_change(from: ServerChain, to: ServerChain) -> bool {
    use ServerChain::{Cached, One, Stored, Three, Two};
    matches!((from, to), (One, Two | Three) | (Two, Stored | Cached))
}
