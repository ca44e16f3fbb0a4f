//! Record protection without an allocation: RFC 8446 §5.2–5.3, RFC 5246 §6.2.3.3, RFC 5288, RFC 7905.

use reprise_engine::suite::{Aead as Cipher, Suite};
use reprise_wire::{ContentType, HEADER_LEN};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

use super::hkdf::Secret;
use reprise_model::FaultName;

/// Bytes of a tag in every suite that is spoken here.
const TAG_LEN: usize = 16;

/// One direction of one epoch.
pub(crate) struct Protection {
    key: LessSafeKey,
    iv: [u8; 12],
    sequence: u64,
    form: Form,
}

/// What a protected record looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The type stands encrypted at the end; the header is authenticated.
    Tls13,
    /// Eight bytes of nonce stand before the ciphertext (RFC 5288 §3).
    Tls12Gcm,
    /// As GCM, but the nonce is made as in TLS 1.3 (RFC 7905 §2).
    Tls12ChaCha,
}

impl Protection {
    /// From a traffic secret of TLS 1.3.
    pub(crate) fn tls13(suite: &Suite, secret: &Secret) -> Result<Self, FaultName> {
        let length = suite.aead.key_len();
        let key = secret.expand(b"key", &[], length);
        let iv = secret.expand(b"iv", &[], 12);
        let iv = iv.as_ref().first_chunk::<12>().ok_or(FaultName::Crypto)?;
        Ok(Self { key: key_of(suite.aead, key.as_ref().get(..length))?, iv: *iv, sequence: 0, form: Form::Tls13 })
    }

    /// From a slice of TLS 1.2's key block; the IV has four bytes under GCM, twelve under ChaCha20-Poly1305.
    pub(crate) fn tls12(aead: Cipher, key: &[u8], fixed_iv: &[u8]) -> Result<Self, FaultName> {
        let mut iv = [0; 12];
        iv.get_mut(..fixed_iv.len()).ok_or(FaultName::Crypto)?.copy_from_slice(fixed_iv);
        let form = match aead {
            Cipher::ChaCha20Poly1305 => Form::Tls12ChaCha,
            _ => Form::Tls12Gcm,
        };
        Ok(Self { key: key_of(aead, Some(key))?, iv, sequence: 0, form })
    }

    /// Whether no record was protected or opened with it yet.
    pub(crate) fn is_unused(&self) -> bool {
        self.sequence == 0
    }

    /// Appends one protected record.
    pub(crate) fn seal(&mut self, content_type: ContentType, content: &[u8], out: &mut Vec<u8>) -> Result<(), FaultName> {
        let start = out.len();
        let (outer, inner) = match self.form {
            Form::Tls13 => (ContentType::APPLICATION_DATA, 1),
            _ => (content_type, 0),
        };
        let explicit = self.explicit_len();
        let length = explicit + content.len() + inner + TAG_LEN;
        let [high, low] = u16::try_from(length).map_err(|_| FaultName::TooLarge)?.to_be_bytes();
        let header = [outer.0, 3, 3, high, low];
        out.extend_from_slice(&header);
        if explicit > 0 {
            out.extend_from_slice(&self.sequence.to_be_bytes());
        }
        out.extend_from_slice(content);
        if inner > 0 {
            out.push(content_type.0);
        }
        let (nonce, aad) = (self.nonce(self.sequence.to_be_bytes()), self.aad(header, content.len()));
        let sealed = out.get_mut(start + HEADER_LEN + explicit..).ok_or(FaultName::Crypto)?;
        let tag = self.key.seal_in_place_separate_tag(nonce, aad, sealed).map_err(|_| FaultName::Crypto)?;
        out.extend_from_slice(tag.as_ref());
        self.sequence += 1;
        Ok(())
    }

    /// Opens one record in place: what it is, and its content.
    pub(crate) fn open<'a>(
        &mut self,
        content_type: ContentType,
        fragment: &'a mut [u8],
    ) -> Result<(ContentType, &'a mut [u8]), FaultName> {
        let [high, low] = u16::try_from(fragment.len()).map_err(|_| FaultName::TooLarge)?.to_be_bytes();
        let explicit = self.explicit_len();
        let plain_len = fragment.len().checked_sub(explicit + TAG_LEN).ok_or(FaultName::BadRecordMac)?;
        let (before, sealed) = fragment.split_at_mut_checked(explicit).ok_or(FaultName::BadRecordMac)?;
        let explicit_nonce = before.first_chunk::<8>().copied().unwrap_or(self.sequence.to_be_bytes());
        let nonce = self.nonce(explicit_nonce);
        let aad = self.aad([content_type.0, 3, 3, high, low], plain_len);
        let plain = self.key.open_in_place(nonce, aad, sealed).map_err(|_| FaultName::BadRecordMac)?;
        self.sequence += 1;
        if self.form != Form::Tls13 {
            return Ok((content_type, plain));
        }
        // RFC 8446 §5.4: zeros may pad, and the last byte that is not zero is the type.
        let end = plain.iter().rposition(|&byte| byte != 0).ok_or(FaultName::PeerMisbehaved)?;
        let inner = ContentType(plain.get(end).copied().unwrap_or_default());
        Ok((inner, plain.get_mut(..end).ok_or(FaultName::Crypto)?))
    }

    fn explicit_len(&self) -> usize {
        if self.form == Form::Tls12Gcm { 8 } else { 0 }
    }

    fn nonce(&self, number: [u8; 8]) -> Nonce {
        let mut nonce = self.iv;
        let (_, last) = nonce.split_at_mut(4);
        for (byte, number) in last.iter_mut().zip(number) {
            // Under GCM of TLS 1.2 there is nothing in the IV yet to be changed.
            *byte ^= number;
        }
        Nonce::assume_unique_for_key(nonce)
    }

    /// TLS 1.3: the header. TLS 1.2: the sequence number and the header, its length that of the plaintext.
    fn aad(&self, header: [u8; HEADER_LEN], plain_len: usize) -> Aad<AadBytes> {
        let mut bytes = [0; 13];
        if self.form == Form::Tls13 {
            bytes[..5].copy_from_slice(&header);
            return Aad::from(AadBytes { bytes, length: 5 });
        }
        let [high, low] = (plain_len as u16).to_be_bytes();
        bytes[..8].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[8..].copy_from_slice(&[header[0], 3, 3, high, low]);
        Aad::from(AadBytes { bytes, length: 13 })
    }
}

struct AadBytes {
    bytes: [u8; 13],
    length: usize,
}

impl AsRef<[u8]> for AadBytes {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

fn key_of(aead: Cipher, key: Option<&[u8]>) -> Result<LessSafeKey, FaultName> {
    let algorithm: &'static Algorithm = match aead {
        Cipher::Aes128Gcm => &AES_128_GCM,
        Cipher::Aes256Gcm => &AES_256_GCM,
        Cipher::ChaCha20Poly1305 => &CHACHA20_POLY1305,
    };
    let key = UnboundKey::new(algorithm, key.ok_or(FaultName::Crypto)?).map_err(|_| FaultName::Crypto)?;
    Ok(LessSafeKey::new(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_engine::suite::{Hash, SUITES};
    use reprise_model::Version;

    fn pair(suite: &Suite) -> [Protection; 2] {
        std::array::from_fn(|_| match suite.version {
            Version::Tls13 => Protection::tls13(suite, &Secret::new(Hash::Sha256, &[4; 32])).unwrap(),
            Version::Tls12 => {
                let iv = if suite.aead == Cipher::ChaCha20Poly1305 { 12 } else { 4 };
                Protection::tls12(suite.aead, &vec![6; suite.aead.key_len()], &vec![7; iv]).unwrap()
            }
        })
    }

    #[test]
    fn what_is_sealed_opens_once_and_in_order() {
        for suite in SUITES {
            let [mut ours, mut theirs] = pair(suite);
            for content in [&b"first"[..], b"", b"third"] {
                let mut record = Vec::new();
                ours.seal(ContentType::HANDSHAKE, content, &mut record).unwrap();
                let outer = ContentType(record[0]);
                let mut broken = record.clone();
                *broken.last_mut().unwrap() ^= 1;
                let failed = theirs.open(outer, &mut broken[HEADER_LEN..]).map(|_| ());
                assert_eq!(failed, Err(FaultName::BadRecordMac), "{:?}", suite.id);
                let (inner, plain) = theirs.open(outer, &mut record[HEADER_LEN..]).unwrap();
                assert_eq!((inner, &*plain), (ContentType::HANDSHAKE, content), "{:?}", suite.id);
            }
        }
    }

    #[test]
    fn a_record_too_short_for_its_tag_is_refused() {
        for suite in SUITES {
            let [mut ours, _] = pair(suite);
            for length in 0..TAG_LEN {
                assert_eq!(
                    ours.open(ContentType::APPLICATION_DATA, &mut vec![0; length]).map(|_| ()),
                    Err(FaultName::BadRecordMac)
                );
            }
        }
    }
}
