//! What seals a session file under a passphrase: scrypt (RFC 7914) makes the key, AES-256-GCM seals.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use scrypt::{Params, scrypt};
use zeroize::Zeroizing;

pub(super) const SALT: usize = 16;
pub(super) const NONCE: usize = 12;
pub(super) const TAG: usize = 16;

/// 128 MiB and about half a second for each guess: what the scrypt crate and OWASP recommend.
pub(super) const LOG_N: u8 = 17;
/// A file from elsewhere may cost this much, 1 GiB, and no more.
const MAX_LOG_N: u8 = 20;
const R: u32 = 8;
const P: u32 = 1;

/// What a passphrase comes to, with the salt that belongs to it.
pub struct SealingKey {
    pub(super) log_n: u8,
    pub(super) salt: [u8; SALT],
    pub(super) key: LessSafeKey,
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl SealingKey {
    /// `None` if the cost is out of bounds.
    pub(super) fn derive(passphrase: &[u8], log_n: u8, salt: [u8; SALT]) -> Option<Self> {
        if !(1..=MAX_LOG_N).contains(&log_n) {
            return None;
        }
        let mut bytes = Zeroizing::new([0; 32]);
        scrypt(passphrase, &salt, &Params::new(log_n, R, P, 32).ok()?, bytes.as_mut()).ok()?;
        let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, bytes.as_ref()).ok()?);
        Some(Self { log_n, salt, key })
    }

    /// Seals `body` in its place and appends the tag. `None` if the library refuses.
    pub(super) fn seal(&self, nonce: [u8; NONCE], head: &[u8], body: &mut Vec<u8>) -> Option<()> {
        self.key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(head), body).ok()
    }

    /// Opens a body with its tag. `None` if this is not the key that it was sealed under.
    pub(super) fn open(&self, nonce: [u8; NONCE], head: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let mut body = Zeroizing::new(sealed.to_vec());
        let length = self.key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(head), &mut body).ok()?.len();
        body.truncate(length);
        Some(body)
    }
}
