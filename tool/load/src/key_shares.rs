//! Where key shares come from that cost less than a new one each time: unit shares, and one pair that is used again.
//!
//! A unit share: the "ephemeral" public key is the group's base point, so the shared secret is the server's own share.
//!
//! Private scalar 1 costs nothing: 1·S = S. For X25519, whose scalars are clamped and cannot be 1, the public value is the
//! base point u = 9 (RFC 7748 §4.1) all the same: the server computes s·9, which is its own public value. Servers accept
//! it, for it is a valid point. Whoever listens can read such a connection, so only load generation may use it.

use std::sync::Arc;

use reprise_engine::{Error, KeyShare, KeyShares, Misbehaviour, SharedSecret, generate_key_share};
use reprise_wire::NamedGroup;
use zeroize::Zeroizing;

use crate::mlkem_unit::{self, CIPHERTEXT_LEN};

/// Gives unit shares.
#[derive(Default)]
pub(crate) struct UnitKeyShares {
    hybrid: Arc<HybridUnitKeyShare>,
}

/// Gives the same key pair for a group each time: one agreement for each connection.
pub(crate) struct ReusedKeyShares {
    kept: Vec<Arc<dyn KeyShare>>,
}

/// The unit share of an elliptic curve.
struct UnitKeyShare {
    group: NamedGroup,
    public: &'static [u8],
}

/// The unit share of X25519MLKEM768.
struct HybridUnitKeyShare {
    public: Vec<u8>,
    mlkem: mlkem_unit::Reader,
}

/// A share that several connections have.
struct SharedKeyShare(Arc<dyn KeyShare>);

impl KeyShares for UnitKeyShares {
    fn share(&self, group: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
        if group == NamedGroup::X25519MLKEM768 {
            return Ok(Box::new(SharedKeyShare(self.hybrid.clone())));
        }
        let public = public(group).ok_or(Error::NothingToOffer("this group has no unit key share"))?;
        Ok(Box::new(UnitKeyShare { group, public }))
    }
}

impl ReusedKeyShares {
    pub(crate) fn new(groups: &[NamedGroup]) -> Result<Self, Error> {
        let kept = groups.iter().map(|&group| generate_key_share(group).map(Arc::from)).collect::<Result<_, _>>()?;
        Ok(Self { kept })
    }
}

impl KeyShares for ReusedKeyShares {
    fn share(&self, group: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
        let kept = self.kept.iter().find(|share| share.group() == group);
        let share = kept.ok_or(Error::NothingToOffer("no key share of this group"))?;
        Ok(Box::new(SharedKeyShare(share.clone())))
    }
}

impl KeyShare for UnitKeyShare {
    fn group(&self) -> NamedGroup {
        self.group
    }

    fn public(&self) -> &[u8] {
        self.public
    }

    fn agree(&self, peer: &[u8]) -> Result<SharedSecret, Error> {
        let secret = shared(self.group, peer).ok_or(ILLEGAL_SHARE)?;
        Ok(Zeroizing::new(secret.to_vec()))
    }
}

impl Default for HybridUnitKeyShare {
    fn default() -> Self {
        // The encapsulation key first (RFC 10024 §4).
        let public = [&mlkem_unit::encapsulation_key()[..], &X25519_BASE].concat();
        Self { public, mlkem: mlkem_unit::Reader::new() }
    }
}

impl KeyShare for HybridUnitKeyShare {
    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn public(&self) -> &[u8] {
        &self.public
    }

    fn agree(&self, peer: &[u8]) -> Result<SharedSecret, Error> {
        let (ciphertext, point) = peer.split_at_checked(CIPHERTEXT_LEN).ok_or(ILLEGAL_SHARE)?;
        let secret = Zeroizing::new(self.mlkem.shared_secret(ciphertext).ok_or(ILLEGAL_SHARE)?);
        let point = shared(NamedGroup::X25519, point).ok_or(ILLEGAL_SHARE)?;
        Ok(Zeroizing::new([&secret[..], point].concat()))
    }
}

impl KeyShare for SharedKeyShare {
    fn group(&self) -> NamedGroup {
        self.0.group()
    }

    fn public(&self) -> &[u8] {
        self.0.public()
    }

    fn agree(&self, peer: &[u8]) -> Result<SharedSecret, Error> {
        self.0.agree(peer)
    }
}

/// The public value of the unit share of an elliptic curve.
fn public(group: NamedGroup) -> Option<&'static [u8]> {
    match group {
        NamedGroup::X25519 => Some(&X25519_BASE),
        NamedGroup::SECP256R1 => Some(&P256_BASE),
        NamedGroup::SECP384R1 => Some(&P384_BASE),
        _ => None,
    }
}

/// The shared secret with the server's public value: the value itself, or its x-coordinate (RFC 9846 §7.4.2). `None` if it
/// has not the form of one. Whether it lies on the curve shows in the server's Finished.
fn shared(group: NamedGroup, peer: &[u8]) -> Option<&[u8]> {
    match (group, peer) {
        (NamedGroup::X25519, peer) if peer.len() == 32 => Some(peer),
        (NamedGroup::SECP256R1, [4, point @ ..]) if point.len() == 64 => point.get(..32),
        (NamedGroup::SECP384R1, [4, point @ ..]) if point.len() == 96 => point.get(..48),
        _ => None,
    }
}

const ILLEGAL_SHARE: Error = Error::PeerMisbehaved(Misbehaviour::IllegalKeyShare);

const X25519_BASE: [u8; 32] = {
    let mut base = [0; 32];
    base[0] = 9;
    base
};

/// SEC 2 version 2, §2.4.2 (secp256r1): G, uncompressed.
const P256_BASE: [u8; 65] = [
    0x04, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77, 0x03, 0x7d,
    0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96, 0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f,
    0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40,
    0x68, 0x37, 0xbf, 0x51, 0xf5,
];

/// SEC 2 version 2, §2.5.1 (secp384r1): G, uncompressed.
const P384_BASE: [u8; 97] = [
    0x04, 0xaa, 0x87, 0xca, 0x22, 0xbe, 0x8b, 0x05, 0x37, 0x8e, 0xb1, 0xc7, 0x1e, 0xf3, 0x20, 0xad, 0x74, 0x6e, 0x1d, 0x3b,
    0x62, 0x8b, 0xa7, 0x9b, 0x98, 0x59, 0xf7, 0x41, 0xe0, 0x82, 0x54, 0x2a, 0x38, 0x55, 0x02, 0xf2, 0x5d, 0xbf, 0x55, 0x29,
    0x6c, 0x3a, 0x54, 0x5e, 0x38, 0x72, 0x76, 0x0a, 0xb7, 0x36, 0x17, 0xde, 0x4a, 0x96, 0x26, 0x2c, 0x6f, 0x5d, 0x9e, 0x98,
    0xbf, 0x92, 0x92, 0xdc, 0x29, 0xf8, 0xf4, 0x1d, 0xbd, 0x28, 0x9a, 0x14, 0x7c, 0xe9, 0xda, 0x31, 0x13, 0xb5, 0xf0, 0xb8,
    0xc0, 0x0a, 0x60, 0xb1, 0xce, 0x1d, 0x7e, 0x81, 0x9d, 0x7a, 0x43, 0x1d, 0x7c, 0x90, 0xea, 0x0e, 0x5f,
];

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_engine::EcdhKeyShare;

    #[test]
    fn a_server_that_agrees_with_a_unit_share_has_what_we_read_off() {
        for group in [NamedGroup::X25519, NamedGroup::SECP256R1, NamedGroup::SECP384R1] {
            let ours = UnitKeyShares::default().share(group).unwrap();
            let theirs = EcdhKeyShare::generate(group).unwrap();
            let their_public = theirs.public().to_vec();
            let their_secret = theirs.agree(ours.public()).unwrap();
            assert_eq!(ours.agree(&their_public).unwrap(), their_secret, "{group}");
        }
    }

    #[test]
    fn the_scalar_one_has_the_base_point_for_its_public_key() {
        for group in [NamedGroup::SECP256R1, NamedGroup::SECP384R1] {
            let length = if group == NamedGroup::SECP256R1 { 32 } else { 48 };
            let mut one = vec![0; length];
            one[length - 1] = 1;
            let one = EcdhKeyShare::from_private_key(group, &one).unwrap();
            assert_eq!(Some(one.public()), public(group));
        }
    }

    #[test]
    fn a_share_of_the_wrong_form_is_refused() {
        for (group, length) in [(NamedGroup::X25519, 32), (NamedGroup::SECP256R1, 65), (NamedGroup::SECP384R1, 97)] {
            for wrong in [0, length - 1, length + 1] {
                assert_eq!(shared(group, &vec![4; wrong]), None, "{group}");
            }
        }
        assert_eq!(shared(NamedGroup::SECP256R1, &[2; 65]), None, "only the uncompressed form");
        assert!(UnitKeyShares::default().share(NamedGroup::SECP521R1).is_err());
    }
}
