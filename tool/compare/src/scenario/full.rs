//! What does a full handshake cost under TLS 1.2 and 1.3, by key and group?

use reprise_model::document::CompareCase;
use reprise_model::{Kind, Version};
use reprise_pairs::Key;
use reprise_wire::NamedGroup;

use super::{BOTH, Scenario};
use crate::comparable::handshakes;
use crate::conclusion::{cheapest_servers, costs_of};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "full",
    help: "Full handshakes: TLS 1.2 against 1.3, by key and group",
    versions: BOTH,
    keys: &[Key::RSA_2048, Key::P256],
    groups: |_| &[NamedGroup::FFDHE2048, NamedGroup::SECP256R1, NamedGroup::X25519, NamedGroup::X25519MLKEM768],
    kinds: &[(Kind::Full, false)],
    beside: |_, _, _| Vec::new(),
    compares: handshakes,
    concludes: |document| {
        let is_next_version = |from: &CompareCase, to: &CompareCase| {
            (from.tls, to.tls) == (Version::Tls12, Version::Tls13) && from.group == to.group
        };
        let versions = costs_of(document, "Over all keys and groups, TLS 1.3 instead of 1.2", is_next_version);
        cheapest_servers(document).chain(versions).collect()
    },
};
