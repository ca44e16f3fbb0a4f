//! One AEAD key for each sealed thing, derived from a long-lived one and a fresh salt.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hmac;
use zeroize::Zeroizing;

/// Bytes of an AES-GCM tag.
pub(crate) const TAG_LEN: usize = 16;

/// HKDF's extract (RFC 5869 §2.2), done once; expand is done for each salt.
///
/// ```text
/// prk = HMAC-SHA256(label, material)         once a key
/// key = HMAC-SHA256(prk, salt ‖ 0x01)        once a salt: the first block of expand, whose info is the salt
/// ```
///
/// Since no two salts are the same, no two sealed things have a key in common, and the nonce can be constant. A random
/// nonce of 96 bits under one key would limit a key to some 2^32 tickets (NIST SP 800-38D §8.3); a fleet reaches that.
pub(crate) struct DerivingKey(hmac::Key);

impl DerivingKey {
    pub(crate) fn new(label: &[u8], material: &[u8]) -> Self {
        let prk = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, label), material);
        Self(hmac::Key::new(hmac::HMAC_SHA256, prk.as_ref()))
    }

    /// Encrypts what stands in `out` from `start` on, and appends the tag.
    pub(crate) fn seal(&self, salt: &[u8], aad: &[u8], out: &mut Vec<u8>, start: usize) -> Option<()> {
        let key = self.key(salt)?;
        let plain = out.get_mut(start..)?;
        let tag = key.seal_in_place_separate_tag(nonce(), Aad::from(aad), plain).ok()?;
        out.extend_from_slice(tag.as_ref());
        Some(())
    }

    /// Decrypts in place and says how long the plaintext is; `None` if anything was altered.
    pub(crate) fn open<'a>(&self, salt: &[u8], aad: &[u8], sealed: &'a mut [u8]) -> Option<&'a mut [u8]> {
        self.key(salt)?.open_in_place(nonce(), Aad::from(aad), sealed).ok()
    }

    fn key(&self, salt: &[u8]) -> Option<LessSafeKey> {
        let mut expand = hmac::Context::with_key(&self.0);
        expand.update(salt);
        expand.update(&[1]);
        let block = expand.sign();
        let mut key = Zeroizing::new([0; 32]);
        key.copy_from_slice(block.as_ref().get(..32)?);
        Some(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &*key).ok()?))
    }
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}
