//! An ML-KEM-768 encapsulation key with t = 0: what is encapsulated to it can be read off (FIPS 203 §5).
//!
//! K-PKE.Encrypt gives v = tᵀ·y + e₂ + µ. With t = 0 that is the message µ itself, each bit 0 or ⌈q/2⌋, moved by a noise
//! of at most 2: the four bits to which a coefficient is compressed are 0 or 8. So the message needs no decapsulation, and
//! the shared secret is the first half of G(m ‖ H(ek)) (Algorithm 17).

use aws_lc_rs::digest::{SHA3_256, SHA3_512, digest};

/// Bytes of an encapsulation key: t in 12 bits for each of 3·256 coefficients, and the seed of A.
const KEY_LEN: usize = 1184;

/// Bytes of a ciphertext: u in 10 bits for each coefficient, then v in 4.
pub(crate) const CIPHERTEXT_LEN: usize = 1088;

/// Where v begins in it.
const U_LEN: usize = 960;

/// The unit key: t = 0, and a seed of zeros, for A does not matter.
pub(crate) fn encapsulation_key() -> [u8; KEY_LEN] {
    [0; KEY_LEN]
}

/// Reads shared secrets off.
pub(crate) struct Reader {
    /// H(ek).
    key_hash: [u8; 32],
}

impl Reader {
    pub(crate) fn new() -> Self {
        let mut key_hash = [0; 32];
        for (to, from) in key_hash.iter_mut().zip(digest(&SHA3_256, &encapsulation_key()).as_ref()) {
            *to = *from;
        }
        Self { key_hash }
    }

    /// The shared secret in a ciphertext that was made for the unit key; `None` if its length is wrong.
    pub(crate) fn shared_secret(&self, ciphertext: &[u8]) -> Option<[u8; 32]> {
        let v = ciphertext.get(U_LEN..).filter(|_| ciphertext.len() == CIPHERTEXT_LEN)?;
        let mut input = [0; 64];
        let (message, hash) = input.split_at_mut(32);
        for (index, coefficient) in v.iter().flat_map(|byte| [byte & 15, byte >> 4]).enumerate() {
            // Nearer to 8 than to 0 or 16.
            let bit = u8::from((4..12).contains(&coefficient));
            if let Some(byte) = message.get_mut(index / 8) {
                *byte |= bit << (index % 8);
            }
        }
        hash.copy_from_slice(&self.key_hash);
        digest(&SHA3_512, &input).as_ref().first_chunk::<32>().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lc_rs::kem::{EncapsulationKey, ML_KEM_768};

    #[test]
    fn what_another_encapsulates_is_read_off() {
        let key = EncapsulationKey::new(&ML_KEM_768, &encapsulation_key()).unwrap();
        let reader = Reader::new();
        for _ in 0..50 {
            let (ciphertext, secret) = key.encapsulate().unwrap();
            assert_eq!(&reader.shared_secret(ciphertext.as_ref()).unwrap(), secret.as_ref());
        }
        assert_eq!(reader.shared_secret(&[0; CIPHERTEXT_LEN - 1]), None);
    }
}
