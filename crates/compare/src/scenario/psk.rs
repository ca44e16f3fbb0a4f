//! What does an external PSK save on certificates, with a key exchange and without?

use reprise_model::{Kind, Version};
use reprise_wire::{CipherSuite, NamedGroup};

use super::{BOTH, Scenario};
use crate::case::{Case, Key, NO_GROUP};

pub(super) const PSK: Scenario = Scenario {
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
};
