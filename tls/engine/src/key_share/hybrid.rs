//! X25519MLKEM768: a key exchange that holds if either half of it does (RFC 10024).
//!
//! ```text
//! client: ML-KEM-768 encapsulation key, 1184 bytes | X25519 public value, 32
//! server: ML-KEM-768 ciphertext,        1088 bytes | X25519 public value, 32
//! secret: ML-KEM-768 shared secret,       32 bytes | X25519 shared secret, 32
//! ```

use std::fmt;

use aws_lc_rs::kem::{DecapsulationKey, ML_KEM_768};
use reprise_wire::NamedGroup;
use zeroize::Zeroizing;

use super::{EcdhKeyShare, KeyShare, SharedSecret};
use crate::error::{Error, Misbehaviour};

const CIPHERTEXT_LEN: usize = 1088;

/// X25519MLKEM768, of TLS 1.3 alone.
pub struct HybridKeyShare {
    ml_kem: DecapsulationKey,
    x25519: EcdhKeyShare,
    public: Vec<u8>,
}

impl HybridKeyShare {
    /// A share with new private keys of the crypto library's own making.
    pub fn generate() -> Result<Self, Error> {
        const FAILED: Error = Error::Crypto("ML-KEM key generation");
        let ml_kem = DecapsulationKey::generate(&ML_KEM_768).map_err(|_| FAILED)?;
        let encapsulation_key = ml_kem.encapsulation_key().and_then(|key| key.key_bytes()).map_err(|_| FAILED)?;
        let x25519 = EcdhKeyShare::generate(NamedGroup::X25519)?;
        let public = [encapsulation_key.as_ref(), x25519.public()].concat();
        Ok(Self { ml_kem, x25519, public })
    }
}

impl KeyShare for HybridKeyShare {
    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn public(&self) -> &[u8] {
        &self.public
    }

    fn agree(&self, peer: &[u8]) -> Result<SharedSecret, Error> {
        const ILLEGAL: Error = Error::PeerMisbehaved(Misbehaviour::IllegalKeyShare);
        let (ciphertext, point) = peer.split_at_checked(CIPHERTEXT_LEN).ok_or(ILLEGAL)?;
        // The length of the point is X25519's business; every ciphertext of the right length has some secret.
        let classical = self.x25519.agree(point)?;
        let quantum_safe = self.ml_kem.decapsulate(ciphertext.into()).map_err(|_| ILLEGAL)?;
        let mut secret = Zeroizing::new(Vec::with_capacity(64));
        secret.extend_from_slice(quantum_safe.as_ref());
        secret.extend_from_slice(&classical);
        Ok(secret)
    }
}

impl fmt::Debug for HybridKeyShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HybridKeyShare({})", self.group())
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::kem::EncapsulationKey;

    use super::*;

    const ENCAPSULATION_KEY_LEN: usize = 1184;

    /// The server's share, and the secret that it has.
    fn answer(client: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (encapsulation_key, point) = client.split_at(ENCAPSULATION_KEY_LEN);
        let key = EncapsulationKey::new(&ML_KEM_768, encapsulation_key).unwrap();
        let (ciphertext, quantum_safe) = key.encapsulate().unwrap();
        let x25519 = EcdhKeyShare::generate(NamedGroup::X25519).unwrap();
        let public = [ciphertext.as_ref(), x25519.public()].concat();
        let classical = x25519.agree(point).unwrap();
        (public, [quantum_safe.as_ref(), &classical[..]].concat())
    }

    #[test]
    fn both_halves_are_in_the_secret_the_post_quantum_one_first() {
        let share = HybridKeyShare::generate().unwrap();
        assert_eq!(share.public().len(), ENCAPSULATION_KEY_LEN + 32);
        assert_eq!(format!("{share:?}"), "HybridKeyShare(X25519MLKEM768)");
        let (public, secret) = answer(share.public());
        assert_eq!(*share.agree(&public).unwrap(), secret);
    }

    #[test]
    fn a_share_of_another_length_or_a_point_of_small_order_is_none() {
        let refused = |spoil: fn(&mut Vec<u8>)| {
            let share = HybridKeyShare::generate().unwrap();
            let (mut public, _) = answer(share.public());
            spoil(&mut public);
            share.agree(&public).err()
        };
        let spoilt: [fn(&mut Vec<u8>); 6] = [
            Vec::clear,
            |public| public.truncate(32),
            |public| public.truncate(CIPHERTEXT_LEN),
            |public| public.truncate(CIPHERTEXT_LEN + 31),
            |public| public.push(0),
            |public| public[CIPHERTEXT_LEN..].fill(0),
        ];
        for spoil in spoilt {
            assert_eq!(refused(spoil), Some(Misbehaviour::IllegalKeyShare.into()));
        }
    }

    #[test]
    fn a_ciphertext_that_was_spoilt_gives_another_secret() {
        let share = HybridKeyShare::generate().unwrap();
        let (mut public, secret) = answer(share.public());
        public[0] ^= 1;
        assert_ne!(*share.agree(&public).unwrap(), secret);
    }
}
