//! Which library is the cheapest, by key?

use reprise_model::{Kind, Version};
use reprise_pairs::Key;
use reprise_wire::NamedGroup;

use super::Scenario;
use crate::comparable::handshakes;
use crate::conclusion::cheapest_servers;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "stacks",
    help: "RSA against elliptic curves, full and resumed",
    versions: &[Version::Tls12],
    keys: &[Key::Rsa1024, Key::RSA_2048, Key::P256, Key::P384],
    // The curve of the key, as servers with such a key choose it.
    groups: |key| if key == Key::P384 { &[NamedGroup::SECP384R1] } else { &[NamedGroup::SECP256R1] },
    kinds: &[(Kind::Full, false), (Kind::Id, false)],
    beside: |_, _, _| Vec::new(),
    compares: handshakes,
    concludes: |document| cheapest_servers(document).collect(),
};
