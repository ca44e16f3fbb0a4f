//! What clients of a board offer.

use reprise_engine::EcdhKeyShare;
use reprise_wire::{CipherSuite, NamedGroup};

use crate::keys::BoardKey;

/// Cipher suites and groups, each in the order in which the client prefers them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offers {
    /// Of TLS 1.2, with ECDHE.
    pub suites: Vec<CipherSuite>,
    /// For the key exchange, and for the certificate's key (RFC 8422, section 5.1).
    pub groups: Vec<NamedGroup>,
}

impl Offers {
    /// The suites that a board may have, as clients commonly order them: AES-128-GCM, AES-256-GCM, ChaCha20-Poly1305, each
    /// for ECDSA and for RSA.
    pub const SUITES: [CipherSuite; 6] = [
        CipherSuite(0xc02b),
        CipherSuite(0xc02f),
        CipherSuite(0xc02c),
        CipherSuite(0xc030),
        CipherSuite(0xcca9),
        CipherSuite(0xcca8),
    ];
    /// The groups that a board may have.
    pub const GROUPS: &[NamedGroup] = EcdhKeyShare::GROUPS;

    /// What clients commonly offer: the server chooses, each library by an order of its own.
    pub fn common() -> Self {
        Self { suites: Self::SUITES.to_vec(), groups: Self::GROUPS.to_vec() }
    }

    /// What leaves no choice, so that every library computes the same: AES-128-GCM, and the curve of the certificate's key,
    /// or secp256r1 where that is RSA.
    pub fn alike(key: BoardKey) -> Self {
        let [ecdsa, rsa, ..] = Self::SUITES;
        Self { suites: vec![ecdsa, rsa], groups: vec![key.curve().unwrap_or(NamedGroup::SECP256R1)] }
    }

    /// What is missing for a server with this key: its curve, or a suite of its kind.
    pub fn lacks(&self, key: BoardKey) -> Option<String> {
        let curve = key.curve().filter(|curve| !self.groups.contains(curve));
        // IANA's names begin with the key exchange and the kind of key.
        let kind = if key.curve().is_some() { "TLS_ECDHE_ECDSA_" } else { "TLS_ECDHE_RSA_" };
        let has_suite = self.suites.iter().any(|suite| suite.to_string().starts_with(kind));
        curve.map(|curve| curve.to_string()).or_else(|| (!has_suite).then(|| format!("a suite {kind}…")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_serves_its_key_and_no_other_curve() {
        for key in BoardKey::ALL {
            assert_eq!(Offers::common().lacks(key), None);
            assert_eq!(Offers::alike(key).lacks(key), None);
        }
        assert_eq!(Offers::alike(BoardKey::P256).lacks(BoardKey::P384).as_deref(), Some("secp384r1"));
        let of_rsa = Offers { suites: vec![Offers::SUITES[1]], ..Offers::common() };
        assert_eq!(of_rsa.lacks(BoardKey::P256).as_deref(), Some("a suite TLS_ECDHE_ECDSA_…"));
        assert_eq!(of_rsa.lacks(BoardKey::Rsa2048), None);
    }
}
