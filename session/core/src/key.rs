use std::fmt;
use std::time::Duration;

use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

use crate::deriving_key::DerivingKey;
use crate::random::{Random, RandomFailed};

const LABEL: &[u8] = b"reprise-session ticket key 1";

/// The name under which a ticket says which key opens it: random, public.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyName(pub [u8; KeyName::LEN]);

impl KeyName {
    /// Bytes of a name, as in nginx, HAProxy and Apache.
    pub const LEN: usize = 16;
}

impl fmt::Debug for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// When a key may be used, in whole seconds by the clock of whoever uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTimes {
    /// It encrypts from here on. It may decrypt before: another node's clock may be ahead.
    pub not_before: UnixTime,
    /// It encrypts until here, exclusive.
    pub encrypt_until: UnixTime,
    /// It decrypts until here, exclusive.
    pub decrypt_until: UnixTime,
}

impl KeyTimes {
    /// Some 30,000 years from now: a key of a file that says no period is used for as long as it stands there.
    pub(crate) const NO_END: UnixTime = UnixTime::since_unix_epoch(Duration::from_secs(1 << 40));

    /// Whether anybody said when the key begins and ends.
    pub(crate) fn is_known(&self) -> bool {
        self.decrypt_until != Self::NO_END
    }

    /// How long it can decrypt what it encrypts first. A ticket lives at most half as long (RFC 9325 §3.4).
    pub fn span(&self) -> Duration {
        Duration::from_secs(self.decrypt_until.as_secs().saturating_sub(self.not_before.as_secs()))
    }
}

/// Why something is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// A key, or a half of it, is zero or one byte repeated: nobody drew it at random.
    #[error("key {0:?} is zero, or one byte repeated: draw keys at random")]
    NotRandom(KeyName),
    /// The length is neither that of AES-128 nor that of AES-256 keys.
    #[error("a ticket key has 48 or 80 bytes with its name, not {0}")]
    Length(usize),
    /// A key-encryption key, or a half of it, is zero or one byte repeated, or it is text.
    #[error("a key-encryption key is zero, one byte repeated, or text: draw it at random")]
    SealingNotRandom,
    /// The length is not that of a key-encryption key.
    #[error("a key-encryption key has 32 bytes, not {0}")]
    SealingLength(usize),
    /// Two keys of a ring have one name.
    #[error("key {0:?} is there twice")]
    Twice(KeyName),
    /// A ring without a key.
    #[error("there is no key")]
    None,
    /// More keys than a ring may hold: each ticket looks among them.
    #[error("{count} keys: a ring holds at most {max}")]
    TooMany {
        /// The keys that there are.
        count: usize,
        /// [`KeyRing::MAX_KEYS`](crate::KeyRing::MAX_KEYS).
        max: usize,
    },
    /// A key's times are not in order.
    #[error("key {0:?} does not begin before it ends")]
    Times(KeyName),
    /// A period that a key file's key cannot have.
    #[error("a key encrypts for 1 hour to 30 days, not {0:?}")]
    Period(Duration),
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomFailed),
}

/// One ticket key with its times. Zeroed when dropped, and never shown.
pub struct TicketKey {
    name: KeyName,
    /// What key files hold behind the name: 32 or 64 bytes.
    material: Zeroizing<Vec<u8>>,
    times: KeyTimes,
    deriving: DerivingKey,
}

impl TicketKey {
    /// Bytes of a key without its name: two halves of 32, as nginx and HAProxy have them for AES-256.
    pub const MATERIAL_LEN: usize = 64;
    /// The same for AES-128, and all that Apache takes.
    pub const SHORT_MATERIAL_LEN: usize = 32;

    /// A key from its parts. `material` is 32 or 64 bytes from a source of randomness.
    ///
    /// # Errors
    /// [`KeyError::Length`], [`KeyError::NotRandom`], [`KeyError::Times`].
    pub fn new(name: KeyName, material: &[u8], times: KeyTimes) -> Result<Self, KeyError> {
        if ![Self::SHORT_MATERIAL_LEN, Self::MATERIAL_LEN].contains(&material.len()) {
            return Err(KeyError::Length(material.len().saturating_add(KeyName::LEN)));
        }
        // GnuTLS once encrypted with keys of zeros (CVE-2020-13777), and so did a balancer in front of thousands of sites.
        if material.chunks(16).any(|part| part.windows(2).all(|pair| pair.first() == pair.last())) {
            return Err(KeyError::NotRandom(name));
        }
        if times.not_before >= times.encrypt_until || times.encrypt_until > times.decrypt_until {
            return Err(KeyError::Times(name));
        }
        let deriving = DerivingKey::new(LABEL, material);
        Ok(Self { name, material: Zeroizing::new(material.to_vec()), times, deriving })
    }

    /// A new key of 64 bytes.
    ///
    /// # Errors
    /// [`KeyError::Random`], [`KeyError::Times`].
    pub fn generate(times: KeyTimes, random: &dyn Random) -> Result<Self, KeyError> {
        let mut name = [0; KeyName::LEN];
        let mut material = Zeroizing::new([0; Self::MATERIAL_LEN]);
        random.fill(&mut name)?;
        random.fill(&mut *material)?;
        Self::new(KeyName(name), &*material, times)
    }

    /// Its name.
    pub fn name(&self) -> KeyName {
        self.name
    }

    /// Its times.
    pub fn times(&self) -> KeyTimes {
        self.times
    }

    /// The secret part, for writing it into a file: 32 or 64 bytes.
    pub fn material(&self) -> &[u8] {
        &self.material
    }

    pub(crate) fn deriving(&self) -> &DerivingKey {
        &self.deriving
    }
}

impl fmt::Debug for TicketKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TicketKey").field("name", &self.name).field("times", &self.times).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SystemRandom;

    fn times() -> KeyTimes {
        let [not_before, encrypt_until, decrypt_until] =
            [100, 200, 300].map(|second| UnixTime::since_unix_epoch(Duration::from_secs(second)));
        KeyTimes { not_before, encrypt_until, decrypt_until }
    }

    #[test]
    fn zero_and_short_keys_are_refused() {
        let name = KeyName([1; 16]);
        let mut key = [0; 64];
        assert_eq!(TicketKey::new(name, &key, times()).unwrap_err(), KeyError::NotRandom(name));
        SystemRandom.fill(&mut key[..32]).unwrap();
        // Half a key is no key.
        assert_eq!(TicketKey::new(name, &key, times()).unwrap_err(), KeyError::NotRandom(name));
        SystemRandom.fill(&mut key).unwrap();
        for length in [0, 16, 31, 33, 63] {
            assert_eq!(TicketKey::new(name, &key[..length], times()).unwrap_err(), KeyError::Length(length + 16));
        }
        assert!(TicketKey::new(name, &key, times()).is_ok());
    }

    #[test]
    fn debug_shows_no_secret() {
        let key = TicketKey::generate(times(), &SystemRandom).unwrap();
        let shown = format!("{key:?}");
        assert!(!shown.contains("material"), "{shown}");
    }
}
