//! What does a full handshake cost under TLS 1.2 and 1.3, by key and group?

use reprise_model::Kind;
use reprise_wire::NamedGroup;

use super::{BOTH, Scenario};
use crate::case::Key;

pub(super) const FULL: Scenario = Scenario {
    name: "full",
    help: "Full handshakes: TLS 1.2 against 1.3, by key and group",
    versions: BOTH,
    keys: &[Key::RSA_2048, Key::P256],
    groups: |_| &[NamedGroup::FFDHE2048, NamedGroup::SECP256R1, NamedGroup::X25519, NamedGroup::X25519MLKEM768],
    kinds: &[(Kind::Full, false)],
    beside: |_, _, _| Vec::new(),
};
