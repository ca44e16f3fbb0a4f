//! HMAC and HKDF on the stack: a secret is kept as a keyed HMAC, so that expanding it again costs no key set-up.

use reprise_engine::suite::Hash;
use ring::{digest, hmac};

/// One secret of the TLS 1.3 key schedule (RFC 8446 §7.1), ready to be expanded.
#[derive(Clone)]
pub(crate) struct Secret {
    key: hmac::Key,
}

/// The longest HkdfLabel here: two lengths, `"tls13 c hs traffic"`, a SHA-384 hash, and HKDF's counter.
const MAX_INFO: usize = 2 + 1 + 18 + 1 + 48 + 1;

impl Secret {
    /// From the bytes of a secret.
    pub(crate) fn new(hash: Hash, bytes: &[u8]) -> Self {
        Self { key: hmac::Key::new(hmac_of(hash), bytes) }
    }

    /// HKDF-Extract with this secret as the salt: one HMAC (RFC 5869 §2.2).
    pub(crate) fn extract(&self, input: &[u8]) -> hmac::Tag {
        hmac::sign(&self.key, input)
    }

    /// HKDF-Expand-Label, as long as the hash; what needs less takes the front. One block of output needs one HMAC
    /// (RFC 5869 §2.3).
    pub(crate) fn expand(&self, label: &[u8], context: &[u8], length: usize) -> hmac::Tag {
        const PREFIX: &[u8] = b"tls13 ";
        let mut info = Info { bytes: [0; MAX_INFO], length: 0 };
        info.push(&(length as u16).to_be_bytes());
        info.push(&[(PREFIX.len() + label.len()) as u8]);
        info.push(PREFIX);
        info.push(label);
        info.push(&[context.len() as u8]);
        info.push(context);
        info.push(&[1]);
        hmac::sign(&self.key, info.as_bytes())
    }

    /// Derive-Secret: the whole hash over the hash of the transcript.
    pub(crate) fn derive(&self, label: &[u8], transcript: &[u8]) -> hmac::Tag {
        self.expand(label, transcript, transcript.len())
    }

    /// The verify_data of a Finished under this traffic secret (RFC 8446 §4.4.4), or a PSK binder.
    pub(crate) fn finished(&self, hash: Hash, transcript: &[u8]) -> hmac::Tag {
        let key = self.expand(b"finished", &[], hash.output_len());
        hmac::sign(&hmac::Key::new(hmac_of(hash), key.as_ref()), transcript)
    }
}

/// The algorithm of a transcript's hash.
pub(crate) fn digest_of(hash: Hash) -> &'static digest::Algorithm {
    match hash {
        Hash::Sha256 => &digest::SHA256,
        Hash::Sha384 => &digest::SHA384,
    }
}

pub(crate) fn hmac_of(hash: Hash) -> hmac::Algorithm {
    match hash {
        Hash::Sha256 => hmac::HMAC_SHA256,
        Hash::Sha384 => hmac::HMAC_SHA384,
    }
}

struct Info {
    bytes: [u8; MAX_INFO],
    length: usize,
}

impl Info {
    /// Labels and contexts are this crate's own, and all of them fit.
    fn push(&mut self, part: &[u8]) {
        let end = self.length + part.len();
        if let Some(place) = self.bytes.get_mut(self.length..end) {
            place.copy_from_slice(part);
            self.length = end;
        }
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}
