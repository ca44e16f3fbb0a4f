//! When the keys of a file are used: the names say it, and whoever rotates the file sees to it that the next key is everywhere
//! before it encrypts.
//!
//! nginx, HAProxy and Apache leave the 16 bytes of a name to whoever draws them, so there is room for a key's period:
//!
//! ```text
//! 0      4            9        12       16
//! +------+------------+--------+--------+
//! | rSk1 | not before | period | random |   seconds since 1970, seconds
//! +------+------------+--------+--------+
//! ```

use std::time::Duration;

use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

use crate::key::{KeyError, KeyName, KeyTimes, TicketKey};
use crate::random::Random;
use crate::ring::KeyRing;
use crate::rotation::after;

const MAGIC: &[u8; 4] = b"rSk1";
/// The key that was, the one that encrypts, and the one that will: as many as HAProxy asks for.
const KEPT: usize = 3;

/// When a key encrypts, as its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPeriod {
    /// From here on, in whole seconds.
    pub not_before: UnixTime,
    /// For so long.
    pub period: Duration,
}

impl KeyPeriod {
    /// An hour: tickets that are younger must be decrypted for as long again.
    pub const SHORTEST: Duration = Duration::from_secs(3600);
    /// Thirty days.
    pub const LONGEST: Duration = Duration::from_secs(30 * 86_400);

    /// What the name of a key says; `None` if somebody else named it.
    pub fn of(name: KeyName) -> Option<Self> {
        let (not_before, rest) = name.0.strip_prefix(MAGIC)?.split_first_chunk::<5>()?;
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        let period = Duration::from_secs(number(rest.first_chunk::<3>()?));
        let is_allowed = (Self::SHORTEST..=Self::LONGEST).contains(&period);
        is_allowed.then(|| Self { not_before: UnixTime::since_unix_epoch(Duration::from_secs(number(not_before))), period })
    }

    /// Until when it encrypts, exclusive.
    pub fn end(&self) -> UnixTime {
        after(self.not_before, self.period)
    }

    fn name(&self, random: [u8; 4]) -> KeyName {
        let mut name = [0; KeyName::LEN];
        let not_before = self.not_before.as_secs().to_be_bytes();
        let period = self.period.as_secs().to_be_bytes();
        let parts = MAGIC.iter().chain(not_before.iter().skip(3)).chain(period.iter().skip(5)).chain(&random);
        name.iter_mut().zip(parts).for_each(|(to, from)| *to = *from);
        KeyName(name)
    }

    /// A key of this period, with `material` random bytes behind its name: 32 or 64. Its tickets live at most a period.
    ///
    /// # Errors
    /// [`KeyError::Random`], [`KeyError::Length`], [`KeyError::Period`].
    pub fn generate(self, material: usize, random: &dyn Random) -> Result<TicketKey, KeyError> {
        if !(Self::SHORTEST..=Self::LONGEST).contains(&self.period) {
            return Err(KeyError::Period(self.period));
        }
        let mut tail = [0; 4];
        random.fill(&mut tail)?;
        let mut secret = Zeroizing::new(vec![0; material]);
        random.fill(&mut secret)?;
        TicketKey::new(self.name(tail), &secret, self.times(self.period))
    }

    /// Its times, where tickets live for `lifetime`.
    pub(super) fn times(&self, lifetime: Duration) -> KeyTimes {
        KeyTimes { not_before: self.not_before, encrypt_until: self.end(), decrypt_until: after(self.end(), lifetime) }
    }
}

/// Three keys to begin with: one that encrypts from `now` on, the next, and one before that has sealed nothing.
///
/// # Errors
/// Those of [`KeyPeriod::generate`].
pub fn new_keys(period: Duration, material: usize, now: UnixTime, random: &dyn Random) -> Result<KeyRing, KeyError> {
    let before = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs().saturating_sub(period.as_secs())));
    let begin = |not_before| KeyPeriod { not_before, period }.generate(material, random);
    KeyRing::new([begin(before)?, begin(now)?, begin(after(now, period))?])
}

/// The keys that should stand in a file at `now` where `ring` stands; `None` while it need not change.
///
/// Once the newest key has begun, the one after it is made: it stands in every file for a whole period, and decrypts, before it
/// encrypts. The key before the one that encrypts stays as long. Keys that others have named take the first places, and go
/// on encrypting for one `period` more. Where everything was over, a key begins at once: nothing else can encrypt.
///
/// # Errors
/// Those of [`KeyPeriod::generate`].
pub fn rotated_keys(
    ring: &KeyRing,
    period: Duration,
    now: UnixTime,
    random: &dyn Random,
) -> Result<Option<KeyRing>, KeyError> {
    let material = material(ring);
    let mut keys = in_order(ring);
    let mut is_changed = false;
    loop {
        let end = match keys.last().map(|key| KeyPeriod::of(key.name())) {
            Some(Some(newest)) if newest.not_before > now => break,
            Some(Some(newest)) => newest.end().max(now),
            Some(None) => after(now, period),
            None => now,
        };
        keys.push(KeyPeriod { not_before: end, period }.generate(material, random)?.into());
        is_changed = true;
    }
    let surplus = keys.len().saturating_sub(KEPT);
    keys.drain(..surplus);
    if is_changed { KeyRing::with_version(ring.version().saturating_add(1), keys).map(Some) } else { Ok(None) }
}

/// The keys that take the place of `ring` after a leak, all of them new: one encrypts from `now` on, and whatever the others sealed is refused.
///
/// # Errors
/// Those of [`KeyPeriod::generate`].
pub fn replaced_keys(ring: &KeyRing, period: Duration, now: UnixTime, random: &dyn Random) -> Result<KeyRing, KeyError> {
    Ok(new_keys(period, material(ring), now, random)?.at_version(ring.version().saturating_add(1)))
}

/// Bytes of a new key without its name: of the shortest one, for Apache has room for 48 with it.
fn material(ring: &KeyRing) -> usize {
    ring.keys().map(|key| key.material().len()).min().unwrap_or(TicketKey::MATERIAL_LEN)
}

/// The keys as a file has them at `now`: those that are over, the one that encrypts, those that will.
pub(super) struct Places<'a> {
    pub(super) before: Vec<&'a TicketKey>,
    pub(super) current: Option<&'a TicketKey>,
    pub(super) next: Vec<&'a TicketKey>,
}

impl<'a> Places<'a> {
    pub(super) fn at(ring: &'a KeyRing, now: UnixTime) -> Self {
        let mut keys: Vec<&TicketKey> = ring.keys().collect();
        keys.sort_by_key(|key| key.times().not_before);
        let has_begun = |key: &&TicketKey| key.times().not_before <= now;
        let begun = keys.iter().take_while(|key| has_begun(key)).count().max(1).min(keys.len());
        let next = keys.split_off(begun);
        let current = keys.pop();
        Self { before: keys, current, next }
    }
}

fn in_order(ring: &KeyRing) -> Vec<std::sync::Arc<TicketKey>> {
    let mut keys = ring.shared_keys().to_vec();
    keys.sort_by_key(|key| key.times().not_before);
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::random::SystemRandom;

    const DAY: u64 = 86_400;
    const PERIOD: Duration = Duration::from_secs(DAY);

    fn names(ring: &KeyRing) -> Vec<KeyName> {
        ring.keys().map(TicketKey::name).collect()
    }

    #[test]
    fn a_name_says_the_period() {
        let period = KeyPeriod { not_before: at(1_900_000_000), period: Duration::from_secs(30 * DAY) };
        let key = period.generate(32, &SystemRandom).unwrap();
        assert_eq!((KeyPeriod::of(key.name()), key.material().len()), (Some(period), 32));
        assert_eq!(KeyPeriod::of(KeyName([7; 16])), None);
        // The magic alone is no period.
        let zero = KeyPeriod { not_before: at(1), period: Duration::ZERO };
        assert_eq!(KeyPeriod::of(zero.name([1; 4])), None);
        assert_eq!(zero.generate(64, &SystemRandom).unwrap_err(), KeyError::Period(Duration::ZERO));
    }

    #[test]
    fn every_key_decrypts_a_period_before_and_after_it_encrypts() {
        let mut ring = new_keys(PERIOD, 64, at(DAY), &SystemRandom).unwrap();
        let mut current = Vec::new();
        // A year of an hourly job.
        for hour in 24..24 * 365 {
            let (now, before) = (at(hour * 3600), names(&ring));
            if let Some(next) = rotated_keys(&ring, PERIOD, now, &SystemRandom).unwrap() {
                assert_eq!(next.version(), ring.version() + 1);
                ring = next;
            }
            let encrypts = ring.encryption_key(now).unwrap();
            assert!(before.contains(&encrypts.name()), "it was there an hour ago: {hour}");
            assert_eq!(Places::at(&ring, now).current.unwrap().name(), encrypts.name());
            assert_eq!((ring.keys().count(), Places::at(&ring, now).next.len()), (3, 1), "{hour}");
            current.push(encrypts.name());
            // What encrypted a day ago still decrypts.
            if let Some(yesterday) = current.len().checked_sub(24) {
                assert!(ring.decryption_key(current[yesterday], now).is_ok(), "{hour}");
            }
        }
        current.dedup();
        assert_eq!(current.len(), 364);
    }

    #[test]
    fn after_a_leak_no_old_key_is_left() {
        let ring = new_keys(PERIOD, 32, at(DAY), &SystemRandom).unwrap();
        let now = at(DAY + 1000);
        let replaced = replaced_keys(&ring, PERIOD, now, &SystemRandom).unwrap();
        assert!(names(&replaced).iter().all(|name| !names(&ring).contains(name)));
        let encrypts = replaced.encryption_key(now).unwrap();
        assert_eq!((encrypts.times().not_before, encrypts.material().len()), (now, 32));
        assert_eq!((replaced.keys().count(), replaced.version()), (3, ring.version() + 1));
    }

    #[test]
    fn a_job_that_failed_for_a_period_loses_nothing() {
        let ring = new_keys(PERIOD, 64, at(DAY), &SystemRandom).unwrap();
        assert!(rotated_keys(&ring, PERIOD, at(2 * DAY - 1), &SystemRandom).unwrap().is_none());
        let late = rotated_keys(&ring, PERIOD, at(3 * DAY - 1), &SystemRandom).unwrap().unwrap();
        assert_eq!(late.encryption_key(at(3 * DAY - 1)).unwrap().name(), names(&ring)[2]);
        // After ten periods nothing of the ring encrypts, and the new one does at once.
        let very_late = rotated_keys(&ring, PERIOD, at(12 * DAY), &SystemRandom).unwrap().unwrap();
        assert!(ring.encryption_key(at(12 * DAY)).is_none() && very_late.encryption_key(at(12 * DAY)).is_some());
        assert_eq!(Places::at(&very_late, at(12 * DAY)).next.len(), 1);
    }
}
