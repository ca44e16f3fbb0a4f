//! What does authenticating the client cost?

use reprise_model::document::CompareCase;
use reprise_model::{Kind, Version};
use reprise_pairs::Key;
use reprise_wire::NamedGroup;

use super::{BOTH, Scenario};
use crate::comparable::handshakes;
use crate::conclusion::{by, costs_of, saved_by};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "mutual",
    help: "The same with client certificates, full and resumed",
    versions: BOTH,
    keys: &[Key::RSA_2048, Key::P256],
    groups: |_| &[NamedGroup::SECP256R1],
    kinds: &[(Kind::Full, false), (Kind::Full, true), (Kind::Ticket, true)],
    beside: |_, _, _| Vec::new(),
    compares: handshakes,
    concludes: |document| {
        let is_authenticated = |from: &CompareCase, to: &CompareCase| {
            (from.kind, to.kind, from.mutual, to.mutual, from.tls) == (Kind::Full, Kind::Full, false, true, to.tls)
        };
        let of = |tls: Version| {
            let words = format!("A client certificate under {tls}");
            costs_of(document, &words, |from, to| from.tls == tls && is_authenticated(from, to))
        };
        let resumed = |tls: Version| {
            saved_by(document, &format!("Resumed by ticket under {tls}"), move |case| {
                case.mutual && by(tls, Kind::Ticket)(case)
            })
        };
        BOTH.iter().filter_map(|tls| of(*tls)).chain(BOTH.iter().filter_map(|tls| resumed(*tls))).collect()
    },
};
