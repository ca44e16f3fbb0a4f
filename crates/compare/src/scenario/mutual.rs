//! What does authenticating the client cost?

use reprise_model::Kind;
use reprise_wire::NamedGroup;

use super::{BOTH, Scenario};
use crate::case::Key;

pub(super) const MUTUAL: Scenario = Scenario {
    name: "mutual",
    help: "The same with client certificates, full and resumed",
    versions: BOTH,
    keys: &[Key::RSA_2048, Key::P256],
    groups: |_| &[NamedGroup::SECP256R1],
    kinds: &[(Kind::Full, false), (Kind::Full, true), (Kind::Ticket, true)],
    beside: |_, _, _| Vec::new(),
};
