//! What does resuming save, by ID, by ticket with a key exchange and without, with early data?

use reprise_model::document::CompareCase;
use reprise_model::{Kind, PskMode, Version};
use reprise_pairs::{Case, Key};
use reprise_wire::NamedGroup;

use super::{BOTH, Scenario};
use crate::comparable::handshakes;
use crate::conclusion::{by, saved_by};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "resumption",
    help: "What resuming saves: session IDs, tickets and PSKs against full handshakes",
    versions: BOTH,
    keys: &[Key::P256],
    groups: |_| &[NamedGroup::SECP256R1, NamedGroup::FFDHE2048],
    kinds: &[(Kind::Full, false), (Kind::Id, false), (Kind::Ticket, false), (Kind::Early, false)],
    beside: |version, key, group| {
        // A ticket without a key exchange; and one with a request after the handshake, which early data has in it.
        let ticket = Case::new(version, Kind::Ticket, key, group, false).filter(|_| version == Version::Tls13);
        ticket.map_or_else(Vec::new, |ticket| {
            ticket.without_key_exchange().into_iter().chain([ticket.with_request()]).collect()
        })
    },
    compares: handshakes,
    concludes: |document| {
        let saved = |how, tls, kind| saved_by(document, how, by(tls, kind));
        let without_exchange = |case: &CompareCase| case.psk_mode == Some(PskMode::PskKe);
        [
            saved("Resumed by ticket under TLS 1.2", Version::Tls12, Kind::Ticket),
            saved("Resumed by ticket under TLS 1.3", Version::Tls13, Kind::Ticket),
            saved_by(document, "Resumed by ticket under TLS 1.3 without a key exchange", without_exchange),
            saved("Resumed by session ID under TLS 1.2", Version::Tls12, Kind::Id),
        ]
        .into_iter()
        .flatten()
        .collect()
    },
};
