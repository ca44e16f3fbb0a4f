//! What does an external PSK save on certificates, with a key exchange and without?

use reprise_model::document::CompareCase;
use reprise_model::{Kind, PskMode, Version};
use reprise_pairs::{Case, Key, NO_GROUP};
use reprise_wire::{CipherSuite, NamedGroup};

use super::{BOTH, Scenario};
use crate::comparable::handshakes;
use crate::conclusion::instead_of_full;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "psk",
    help: "External PSKs against certificates: with DHE, with ECDHE, without a key exchange",
    versions: BOTH,
    keys: &[Key::RSA_2048, Key::P256],
    groups: |key| {
        if key.is_rsa() { &[NamedGroup::FFDHE2048, NamedGroup::SECP256R1] } else { &[NamedGroup::SECP256R1] }
    },
    kinds: &[(Kind::Full, false)],
    beside: |version, _, group| {
        let exchange = Case::by_psk(version, group);
        // RFC 8442, which few libraries have: RFC 5489 has CBC alone.
        let gcm = exchange.and_then(|it| it.with_suite(CipherSuite::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256));
        let alone = match version {
            Version::Tls12 => Case::by_psk(version, NO_GROUP),
            // Its client computes a key share all the same: one of a finite field would be most of the row.
            Version::Tls13 => exchange.filter(|it| !it.is_of_finite_field()).and_then(Case::without_key_exchange),
        };
        [exchange, gcm, alone].into_iter().flatten().collect()
    },
    compares: handshakes,
    concludes: |document| {
        let with_exchange = |tls: Version, group: NamedGroup| {
            let how = format!("By PSK with a key exchange in {group} under {tls}, against a certificate");
            instead_of_full(document, &how, |from, to| {
                let is_in_it = |case: &CompareCase| case.tls == tls && case.group == group.to_string();
                to.kind == Kind::Psk && to.psk_mode != Some(PskMode::PskKe) && is_in_it(from) && is_in_it(to)
            })
        };
        let groups = [NamedGroup::SECP256R1, NamedGroup::FFDHE2048].into_iter();
        groups.flat_map(|group| BOTH.iter().filter_map(move |tls| with_exchange(*tls, group))).collect()
    },
};
