//! A ring on its way to other nodes: in a file or in a shared store, which are not trusted with it.
//!
//! ```text
//! 0       8         16      48
//! +-------+---------+-------+-------------------------------+-----+
//! | magic | version | salt  | AES-256-GCM: chain, then keys | tag |
//! +-------+---------+-------+-------------------------------+-----+
//! the chain: secret (32)  when its next key begins (8); zeros without one
//! a key:  name (16)  length (1)  material  not before (8)  encrypt until (8)  decrypt until (8)
//! ```

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use reprise_wire::Reader;
use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

use crate::chain::Chain;
use crate::deriving_key::DerivingKey;
use crate::key::{KeyError, KeyName, KeyTimes, TicketKey};
use crate::random::Random;
use crate::ring::KeyRing;

const MAGIC: &[u8; 8] = b"reprise2";
const LABEL: &[u8] = b"reprise-session ring 1";
const SALT_LEN: usize = 32;
const HEADER_LEN: usize = MAGIC.len() + 8 + SALT_LEN;

/// The keys that seal rings: they do not live where the ring does. The first one seals, all of them open, so that they can
/// be replaced node by node. [`KeyEncryptionKeys::from_file`] and [`KeyEncryptionKeys::from_env`] read them.
pub struct KeyEncryptionKeys(Vec<(DerivingKey, [u8; KeyEncryptionKeys::ID_LEN])>);

impl KeyEncryptionKeys {
    const ID_LEN: usize = 8;

    /// Keys of 32 bytes each from a source of randomness.
    ///
    /// # Errors
    /// [`KeyError::None`]; [`KeyError::SealingLength`] of any other length; [`KeyError::SealingNotRandom`].
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, KeyError> {
        let derive = |key: &[u8]| match key.len() {
            32 if key.chunks(16).all(|half| half.windows(2).any(|pair| pair.first() != pair.last())) => {
                Ok((DerivingKey::new(LABEL, key), id_of(key)))
            }
            32 => Err(KeyError::SealingNotRandom),
            length => Err(KeyError::SealingLength(length)),
        };
        let keys = keys.into_iter().map(derive).collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() { Err(KeyError::None) } else { Ok(Self(keys)) }
    }

    /// What tells each key from others without revealing anything of it, in hexadecimal, in their order: the names that rings sealed
    /// under them have in a store. Nodes with other keys do not meet there.
    pub fn ids(&self) -> impl Iterator<Item = String> + '_ {
        self.0.iter().map(|(_, id)| id.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

fn id_of(key: &[u8]) -> [u8; KeyEncryptionKeys::ID_LEN] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), b"reprise-session ring id 1");
    let mut id = [0; KeyEncryptionKeys::ID_LEN];
    id.iter_mut().zip(tag.as_ref()).for_each(|(to, from)| *to = *from);
    id
}

impl fmt::Debug for KeyEncryptionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyEncryptionKeys({})", self.0.len())
    }
}

/// Why sealed bytes are no ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealedRingError {
    /// They do not begin as a ring of this version does.
    #[error("this is no sealed ring of version 2")]
    NoRing,
    /// Altered, or sealed under another key-encryption key.
    #[error("the ring was altered, or sealed under another key-encryption key")]
    Altered,
    /// What was sealed is no valid ring.
    #[error("the ring holds a bad key: {0}")]
    Key(#[from] KeyError),
}

impl KeyRing {
    /// Seals the ring.
    ///
    /// # Errors
    /// [`KeyError::Random`].
    pub fn seal(&self, keys: &KeyEncryptionKeys, random: &dyn Random) -> Result<Vec<u8>, KeyError> {
        let mut salt = [0; SALT_LEN];
        random.fill(&mut salt)?;
        let mut sealed = Vec::new();
        sealed.extend_from_slice(MAGIC);
        sealed.extend_from_slice(&self.version().to_be_bytes());
        sealed.extend_from_slice(&salt);
        let header = sealed.clone();
        // As long as it can become: a secret must not stay behind in a buffer that grew.
        let mut plain = Zeroizing::new(Vec::with_capacity(self.keys().count().saturating_mul(128).saturating_add(64)));
        encode_chain(self.chain(), &mut plain);
        self.keys().for_each(|key| encode(key, &mut plain));
        sealed.reserve_exact(plain.len().saturating_add(16));
        sealed.extend_from_slice(&plain);
        let (sealing, _) = keys.0.first().ok_or(KeyError::None)?;
        sealing.seal(&salt, &header, &mut sealed, HEADER_LEN).ok_or(KeyError::None)?;
        Ok(sealed)
    }

    /// Opens a sealed ring.
    ///
    /// # Errors
    /// Whatever `sealed` is, it is a ring or one of [`SealedRingError`].
    pub fn open(keys: &KeyEncryptionKeys, sealed: &[u8]) -> Result<Self, SealedRingError> {
        let version = Self::sealed_version(sealed).ok_or(SealedRingError::NoRing)?;
        let (header, ciphertext) = sealed.split_at_checked(HEADER_LEN).ok_or(SealedRingError::NoRing)?;
        let salt = header.get(HEADER_LEN - SALT_LEN..).ok_or(SealedRingError::NoRing)?;
        let mut plain = Zeroizing::new(Vec::new());
        let opened = keys.0.iter().find_map(|(key, _)| {
            *plain = ciphertext.to_vec();
            key.open(salt, header, &mut plain).map(|opened| opened.len())
        });
        let plain = plain.get(..opened.ok_or(SealedRingError::Altered)?).ok_or(SealedRingError::Altered)?;
        let mut rest = Reader::new(plain);
        let chain = decode_chain(&mut rest).map_err(|_| SealedRingError::Altered)?;
        let mut ring = Vec::new();
        while !rest.is_empty() {
            ring.push(Arc::new(decode(&mut rest).map_err(|_| SealedRingError::Altered)??));
        }
        let ring = Self::with_version(version, ring)?;
        Ok(match chain {
            Some(chain) => ring.with_chain(chain),
            None => ring,
        })
    }

    /// The version that a sealed ring claims, before it is opened.
    pub fn sealed_version(sealed: &[u8]) -> Option<u64> {
        sealed.strip_prefix(MAGIC)?.first_chunk().map(|version| u64::from_be_bytes(*version))
    }
}

fn encode_chain(chain: Option<&Chain>, out: &mut Vec<u8>) {
    out.extend_from_slice(chain.map_or(&[0; Chain::SECRET_LEN][..], |chain| chain.secret()));
    out.extend_from_slice(&chain.map_or(0, |chain| chain.begins().as_secs()).to_be_bytes());
}

/// Of a ring without a chain, no chain.
fn decode_chain(bytes: &mut Reader<'_>) -> Result<Option<Chain>, reprise_wire::Error> {
    let secret = bytes.array::<{ Chain::SECRET_LEN }>()?;
    let begins = time(bytes)?;
    Ok((*secret != [0; Chain::SECRET_LEN]).then(|| Chain::from_parts(secret, begins)))
}

fn encode(key: &TicketKey, out: &mut Vec<u8>) {
    out.extend_from_slice(&key.name().0);
    out.push(key.material().len() as u8);
    out.extend_from_slice(key.material());
    let KeyTimes { not_before, encrypt_until, decrypt_until } = key.times();
    for time in [not_before, encrypt_until, decrypt_until] {
        out.extend_from_slice(&time.as_secs().to_be_bytes());
    }
}

fn decode(bytes: &mut Reader<'_>) -> Result<Result<TicketKey, KeyError>, reprise_wire::Error> {
    let (name, material) = (KeyName(*bytes.array()?), bytes.vec8()?);
    let times = KeyTimes { not_before: time(bytes)?, encrypt_until: time(bytes)?, decrypt_until: time(bytes)? };
    Ok(TicketKey::new(name, material, times))
}

fn time(bytes: &mut Reader<'_>) -> Result<UnixTime, reprise_wire::Error> {
    Ok(UnixTime::since_unix_epoch(Duration::from_secs(bytes.u64()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SystemRandom;
    use crate::rotation::Rotation;

    fn random_key() -> [u8; 32] {
        let mut key = [0; 32];
        SystemRandom.fill(&mut key).unwrap();
        key
    }

    fn ring() -> KeyRing {
        let rotation = Rotation::new(Duration::from_secs(100)).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(1000));
        let later = UnixTime::since_unix_epoch(Duration::from_secs(1060));
        let ring = KeyRing::generate(&rotation, now, &SystemRandom).unwrap();
        ring.rotated(&rotation, later, &SystemRandom).unwrap().unwrap()
    }

    #[test]
    fn a_sealed_ring_opens_to_the_same_keys() {
        let keys = KeyEncryptionKeys::new([&random_key()[..]]).unwrap();
        let ring = ring();
        let sealed = ring.seal(&keys, &SystemRandom).unwrap();
        let opened = KeyRing::open(&keys, &sealed).unwrap();
        assert_eq!(opened.version(), 2);
        for (one, other) in ring.keys().zip(opened.keys()) {
            assert_eq!((one.name(), one.times(), one.material()), (other.name(), other.times(), other.material()));
            assert!(!sealed.windows(16).any(|window| one.material().starts_with(window)));
        }
    }

    #[test]
    fn an_altered_ring_is_refused() {
        let keys = KeyEncryptionKeys::new([&random_key()[..]]).unwrap();
        let sealed = ring().seal(&keys, &SystemRandom).unwrap();
        for index in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[index] ^= 1;
            assert!(KeyRing::open(&keys, &altered).is_err(), "byte {index}");
            assert!(KeyRing::open(&keys, &sealed[..index]).is_err(), "{index} bytes");
        }
    }

    #[test]
    fn key_encryption_keys_are_replaced_one_by_one() {
        let [old, new] = [random_key(), random_key()];
        let sealed = ring().seal(&KeyEncryptionKeys::new([&old[..]]).unwrap(), &SystemRandom).unwrap();
        assert!(KeyRing::open(&KeyEncryptionKeys::new([&new[..], &old[..]]).unwrap(), &sealed).is_ok());
        let refused = KeyRing::open(&KeyEncryptionKeys::new([&new[..]]).unwrap(), &sealed);
        assert_eq!(refused.unwrap_err(), SealedRingError::Altered);
    }

    #[test]
    fn zero_short_and_missing_sealing_keys_are_refused() {
        assert_eq!(KeyEncryptionKeys::new([]).unwrap_err(), KeyError::None);
        assert_eq!(KeyEncryptionKeys::new([&[7; 31][..]]).unwrap_err(), KeyError::SealingLength(31));
        assert_eq!(KeyEncryptionKeys::new([&[0; 32][..]]).unwrap_err(), KeyError::SealingNotRandom);
    }
}
