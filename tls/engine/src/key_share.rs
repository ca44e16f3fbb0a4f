//! Key exchange: where an ephemeral key comes from is the caller's choice.

mod hybrid;

pub use hybrid::HybridKeyShare;

use std::fmt;

use aws_lc_rs::agreement::{ECDH_P256, ECDH_P384, ECDH_P521, PrivateKey, UnparsedPublicKey, X25519, agree};
use reprise_wire::NamedGroup;
use zeroize::Zeroizing;

use crate::error::{Error, Misbehaviour};

/// The client's half of a key exchange.
pub trait KeyShare: Send + Sync {
    /// The group that it belongs to.
    fn group(&self) -> NamedGroup;

    /// The public value as it stands in a KeyShareEntry or a ClientKeyExchange.
    fn public(&self) -> &[u8];

    /// The shared secret with the server's public value. Fails with [`Misbehaviour::IllegalKeyShare`] if that is no valid
    /// one of this group.
    fn agree(&self, peer: &[u8]) -> Result<SharedSecret, Error>;
}

/// The result of a key exchange, wiped when dropped.
pub type SharedSecret = Zeroizing<Vec<u8>>;

/// Gives each connection its key shares.
pub trait KeyShares: Send + Sync {
    /// A share of this group for one connection.
    fn share(&self, group: NamedGroup) -> Result<Box<dyn KeyShare>, Error>;
}

/// Every group that the engine speaks, the order of preference in which they may be offered. X25519MLKEM768 belongs to
/// TLS 1.3 alone, and is left out of what a ClientHello of TLS 1.2 offers.
pub const GROUPS: &[NamedGroup] =
    &[NamedGroup::X25519MLKEM768, NamedGroup::X25519, NamedGroup::SECP256R1, NamedGroup::SECP384R1, NamedGroup::SECP521R1];

/// A share of any of [`GROUPS`] with new private keys of the crypto library's own making.
pub fn generate_key_share(group: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
    match group {
        NamedGroup::X25519MLKEM768 => Ok(Box::new(HybridKeyShare::generate()?)),
        group => Ok(Box::new(EcdhKeyShare::generate(group)?)),
    }
}

/// Elliptic-curve Diffie-Hellman over X25519, P-256, P-384 or P-521 with a private key that the caller made.
pub struct EcdhKeyShare {
    group: NamedGroup,
    private: PrivateKey,
    public: Vec<u8>,
}

impl EcdhKeyShare {
    /// The groups that every client offers, in the order of preference that is common.
    pub const GROUPS: &'static [NamedGroup] = &[NamedGroup::X25519, NamedGroup::SECP256R1, NamedGroup::SECP384R1];

    /// A share with a new private key of the crypto library's own making.
    pub fn generate(group: NamedGroup) -> Result<Self, Error> {
        let private = PrivateKey::generate(algorithm(group)?).map_err(|_| Error::Crypto("key generation"))?;
        Self::new(group, private)
    }

    /// A share with a given private key: 32 bytes for X25519 and P-256, 48 for P-384, 66 for P-521; big-endian for
    /// all but X25519.
    pub fn from_private_key(group: NamedGroup, private: &[u8]) -> Result<Self, Error> {
        let private = PrivateKey::from_private_key(algorithm(group)?, private).map_err(|_| Error::Crypto("private key"))?;
        Self::new(group, private)
    }

    fn new(group: NamedGroup, private: PrivateKey) -> Result<Self, Error> {
        let public = private.compute_public_key().map_err(|_| Error::Crypto("public key"))?.as_ref().to_vec();
        Ok(Self { group, private, public })
    }
}

impl KeyShare for EcdhKeyShare {
    fn group(&self) -> NamedGroup {
        self.group
    }

    fn public(&self) -> &[u8] {
        &self.public
    }

    fn agree(&self, peer: &[u8]) -> Result<SharedSecret, Error> {
        // RFC 9846 §4.3.8.2 and RFC 8422 §5.4.1: the uncompressed form alone. The library would take others, DER too.
        let is_uncompressed = self.group == NamedGroup::X25519 || peer.first() == Some(&4);
        if peer.len() != self.public.len() || !is_uncompressed {
            return Err(Misbehaviour::IllegalKeyShare.into());
        }
        let peer = UnparsedPublicKey::new(algorithm(self.group)?, peer);
        agree(&self.private, peer, Error::from(Misbehaviour::IllegalKeyShare), |secret| Ok(Zeroizing::new(secret.to_vec())))
    }
}

impl fmt::Debug for EcdhKeyShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EcdhKeyShare({})", self.group)
    }
}

fn algorithm(group: NamedGroup) -> Result<&'static aws_lc_rs::agreement::Algorithm, Error> {
    match group {
        NamedGroup::X25519 => Ok(&X25519),
        NamedGroup::SECP256R1 => Ok(&ECDH_P256),
        NamedGroup::SECP384R1 => Ok(&ECDH_P384),
        NamedGroup::SECP521R1 => Ok(&ECDH_P521),
        _ => Err(Error::NothingToOffer("no key share of this group")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_new_shares_of_every_group_agree() {
        for &group in GROUPS.iter().filter(|&&group| group != NamedGroup::X25519MLKEM768) {
            let [ours, theirs] = [(); 2].map(|()| Box::new(EcdhKeyShare::generate(group).unwrap()));
            assert_ne!(ours.public(), theirs.public());
            assert_eq!(format!("{ours:?}"), format!("EcdhKeyShare({group})"));
            let (our_public, their_public) = (ours.public().to_vec(), theirs.public().to_vec());
            assert_eq!(ours.agree(&their_public), theirs.agree(&our_public));
        }
    }

    #[test]
    fn a_group_that_is_not_spoken_has_no_share() {
        let refused = EcdhKeyShare::generate(NamedGroup::X448).err();
        assert_eq!(refused, Some(Error::NothingToOffer("no key share of this group")));
        assert!(EcdhKeyShare::from_private_key(NamedGroup::X25519, &[1; 31]).is_err());
        assert!(EcdhKeyShare::from_private_key(NamedGroup::SECP256R1, &[0; 32]).is_err());
    }
}
