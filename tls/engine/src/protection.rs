//! Record protection: one AEAD key in one direction, under TLS 1.3 (RFC 9846 §5.2) or TLS 1.2 (RFC 5288, RFC 7905).

use std::ops::Range;

use aws_lc_rs::aead;
use reprise_model::Version;
use reprise_wire::{ContentType, HEADER_LEN, MAX_CIPHERTEXT_TLS13, MAX_PLAINTEXT, ProtocolVersion};

use crate::error::{Error, Misbehaviour};
use crate::key_schedule::tls12::DirectionKeys;
use crate::key_schedule::tls13::TrafficSecret;
use crate::suite::{Aead, Suite};

const TAG_LEN: usize = 16;
const EXPLICIT_NONCE_LEN: usize = 8;

/// Protects what is sent.
pub struct Sealer(Direction);

impl Sealer {
    /// Under a TLS 1.3 traffic secret.
    pub fn tls13(suite: &Suite, secret: &TrafficSecret) -> Result<Self, Error> {
        Direction::tls13(suite, secret).map(Self)
    }

    /// Under the client's half of a TLS 1.2 key block.
    pub fn tls12(suite: &Suite, keys: &DirectionKeys) -> Result<Self, Error> {
        Direction::tls12(suite, keys).map(Self)
    }

    /// Appends to `out` one record that protects `fragment`, which holds at most 2^14 bytes.
    pub fn seal(&mut self, content_type: ContentType, fragment: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        match self.0.version {
            Version::Tls13 => self.seal_tls13(content_type, fragment, out),
            Version::Tls12 => self.seal_tls12(content_type, fragment, out),
        }
    }

    /// ```text
    /// header (also the additional data) | AEAD(fragment | content type) | tag
    /// ```
    fn seal_tls13(&mut self, content_type: ContentType, fragment: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let direction = &mut self.0;
        let header = header(ContentType::APPLICATION_DATA, fragment.len() + 1 + TAG_LEN)?;
        let nonce = direction.xored_nonce()?;

        out.extend_from_slice(&header);
        let start = out.len();
        out.extend_from_slice(fragment);
        out.push(content_type.0);
        direction.seal_in_place(nonce, &header, start, out)
    }

    /// ```text
    /// header | explicit nonce (GCM only) | AEAD(fragment) | tag
    /// ```
    fn seal_tls12(&mut self, content_type: ContentType, fragment: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let direction = &mut self.0;
        let explicit = direction.explicit_nonce_len();
        let additional = additional_data(direction.sequence, content_type, fragment.len())?;
        out.extend_from_slice(&header(content_type, explicit + fragment.len() + TAG_LEN)?);

        // The sequence number is a nonce that never repeats under one key (RFC 5288 §3 allows it).
        let nonce = if explicit > 0 {
            let sequence = direction.sequence.to_be_bytes();
            out.extend_from_slice(&sequence);
            direction.explicit_nonce(sequence)?
        } else {
            direction.xored_nonce()?
        };
        let start = out.len();
        out.extend_from_slice(fragment);
        direction.seal_in_place(nonce, &additional, start, out)
    }
}

/// Opens what is received.
pub struct Opener(Direction);

impl Opener {
    /// Under a TLS 1.3 traffic secret.
    pub fn tls13(suite: &Suite, secret: &TrafficSecret) -> Result<Self, Error> {
        Direction::tls13(suite, secret).map(Self)
    }

    /// Under the server's half of a TLS 1.2 key block.
    pub fn tls12(suite: &Suite, keys: &DirectionKeys) -> Result<Self, Error> {
        Direction::tls12(suite, keys).map(Self)
    }

    /// Opens `record`, header included, in place. Returns the true content type and where in `record` the plaintext
    /// stands.
    pub fn open(&mut self, record: &mut [u8]) -> Result<(ContentType, Range<usize>), Error> {
        match self.0.version {
            Version::Tls13 => self.open_tls13(record),
            Version::Tls12 => self.open_tls12(record),
        }
    }

    /// Whether nothing was opened yet.
    pub(crate) fn is_unused(&self) -> bool {
        self.0.sequence == 0
    }

    fn open_tls13(&mut self, record: &mut [u8]) -> Result<(ContentType, Range<usize>), Error> {
        if record.len() > HEADER_LEN + MAX_CIPHERTEXT_TLS13 {
            return Err(Error::TooLarge { what: "record", limit: MAX_CIPHERTEXT_TLS13 });
        }
        let (header, fragment) = record.split_first_chunk_mut::<HEADER_LEN>().ok_or(Error::BadRecordMac)?;
        let nonce = self.0.xored_nonce()?;
        let plaintext = self.0.open_in_place(nonce, header, fragment)?;
        if plaintext.len() > MAX_PLAINTEXT + 1 {
            return Err(Error::TooLarge { what: "record", limit: MAX_PLAINTEXT });
        }
        // The content type is the last byte that is not padding (RFC 9846 §5.4).
        let last = plaintext.iter().rposition(|&byte| byte != 0).ok_or(Misbehaviour::EmptyFragment)?;
        Ok((ContentType(plaintext[last]), HEADER_LEN..HEADER_LEN + last))
    }

    fn open_tls12(&mut self, record: &mut [u8]) -> Result<(ContentType, Range<usize>), Error> {
        let (header, fragment) = record.split_first_chunk_mut::<HEADER_LEN>().ok_or(Error::BadRecordMac)?;
        let content_type = ContentType(header[0]);
        let explicit = self.0.explicit_nonce_len();
        let (nonce, ciphertext) = if explicit > 0 {
            let (nonce, ciphertext) = fragment.split_first_chunk_mut().ok_or(Error::BadRecordMac)?;
            (self.0.explicit_nonce(*nonce)?, ciphertext)
        } else {
            (self.0.xored_nonce()?, fragment)
        };
        let length = ciphertext.len().checked_sub(TAG_LEN).ok_or(Error::BadRecordMac)?;
        if length > MAX_PLAINTEXT {
            return Err(Error::TooLarge { what: "record", limit: MAX_PLAINTEXT });
        }
        let additional = additional_data(self.0.sequence, content_type, length)?;
        self.0.open_in_place(nonce, &additional, ciphertext)?;
        let start = HEADER_LEN + explicit;
        Ok((content_type, start..start + length))
    }
}

/// A key, its IV and its sequence number.
struct Direction {
    version: Version,
    key: aead::LessSafeKey,
    /// 12 bytes, or GCM's salt of 4 under TLS 1.2 and the rest unused.
    iv: [u8; 12],
    salted: bool,
    sequence: u64,
}

impl Direction {
    fn tls13(suite: &Suite, secret: &TrafficSecret) -> Result<Self, Error> {
        let (record_key, iv) = secret.key_and_iv(suite.aead.key_len())?;
        let key = key(suite.aead, record_key.as_ref())?;
        Ok(Self { version: Version::Tls13, key, iv, salted: false, sequence: 0 })
    }

    fn tls12(suite: &Suite, keys: &DirectionKeys) -> Result<Self, Error> {
        let fixed = keys.iv.as_ref();
        let mut iv = [0; 12];
        iv.get_mut(..fixed.len()).ok_or(Error::Crypto("record IV"))?.copy_from_slice(fixed);
        let salted = fixed.len() < iv.len();
        Ok(Self { version: Version::Tls12, key: key(suite.aead, keys.key.as_ref())?, iv, salted, sequence: 0 })
    }

    fn explicit_nonce_len(&self) -> usize {
        if self.salted { EXPLICIT_NONCE_LEN } else { 0 }
    }

    /// salt | explicit (RFC 5288 §3). Takes one sequence number.
    fn explicit_nonce(&mut self, explicit: [u8; EXPLICIT_NONCE_LEN]) -> Result<aead::Nonce, Error> {
        self.not_exhausted()?;
        let mut nonce = self.iv;
        nonce[4..].copy_from_slice(&explicit);
        Ok(aead::Nonce::assume_unique_for_key(nonce))
    }

    /// IV xor sequence number (RFC 9846 §5.3, RFC 7905 §2).
    fn xored_nonce(&self) -> Result<aead::Nonce, Error> {
        self.not_exhausted()?;
        let mut nonce = self.iv;
        for (byte, counter) in nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *byte ^= counter;
        }
        Ok(aead::Nonce::assume_unique_for_key(nonce))
    }

    fn not_exhausted(&self) -> Result<(), Error> {
        if self.sequence == u64::MAX { Err(Error::Crypto("record sequence number")) } else { Ok(()) }
    }

    fn seal_in_place(
        &mut self,
        nonce: aead::Nonce,
        additional: &[u8],
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let tag = self
            .key
            .seal_in_place_separate_tag(nonce, aead::Aad::from(additional), &mut out[start..])
            .map_err(|_| Error::Crypto("AEAD"))?;
        out.extend_from_slice(tag.as_ref());
        self.sequence += 1;
        Ok(())
    }

    fn open_in_place<'r>(
        &mut self,
        nonce: aead::Nonce,
        additional: &[u8],
        record: &'r mut [u8],
    ) -> Result<&'r mut [u8], Error> {
        let plaintext =
            self.key.open_in_place(nonce, aead::Aad::from(additional), record).map_err(|_| Error::BadRecordMac)?;
        self.sequence += 1;
        Ok(plaintext)
    }
}

fn key(aead: Aead, bytes: &[u8]) -> Result<aead::LessSafeKey, Error> {
    let key = aead::UnboundKey::new(aead.algorithm(), bytes).map_err(|_| Error::Crypto("AEAD key"))?;
    Ok(aead::LessSafeKey::new(key))
}

fn header(content_type: ContentType, length: usize) -> Result<[u8; HEADER_LEN], Error> {
    let [high, low] = u16::try_from(length).map_err(|_| Error::Crypto("record length"))?.to_be_bytes();
    let [major, minor] = ProtocolVersion::TLS_1_2.0.to_be_bytes();
    Ok([content_type.0, major, minor, high, low])
}

/// RFC 5246 §6.2.3.3: sequence number, type, version, length of the plaintext.
fn additional_data(sequence: u64, content_type: ContentType, length: usize) -> Result<[u8; 13], Error> {
    let mut data = [0; 13];
    data[..8].copy_from_slice(&sequence.to_be_bytes());
    data[8..].copy_from_slice(&header(content_type, length)?);
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_schedule::tls13::EarlySecret;
    use crate::suite::SUITES;

    #[test]
    fn no_nonce_is_used_twice_however_long_a_connection_lives() {
        let secret = EarlySecret::new(SUITES[0].hash, None).and_then(|early| early.client_early_traffic(&[])).unwrap();
        let (mut sealer, mut opener) =
            (Sealer::tls13(&SUITES[0], &secret).unwrap(), Opener::tls13(&SUITES[0], &secret).unwrap());
        sealer.0.sequence = u64::MAX - 1;
        opener.0.sequence = u64::MAX - 1;
        let mut record = Vec::new();
        sealer.seal(ContentType::APPLICATION_DATA, b"the last", &mut record).unwrap();
        assert!(opener.open(&mut record.clone()).is_ok());

        let exhausted = Error::Crypto("record sequence number");
        assert_eq!(sealer.seal(ContentType::APPLICATION_DATA, b"one more", &mut Vec::new()), Err(exhausted.clone()));
        assert_eq!(opener.open(&mut record), Err(exhausted));
    }
}
