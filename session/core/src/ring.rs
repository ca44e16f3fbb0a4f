use std::sync::Arc;
use std::time::Duration;

use rustls_pki_types::UnixTime;

use crate::chain::Chain;
use crate::key::{KeyError, KeyName, KeyTimes, TicketKey};
use crate::random::Random;
use crate::refused::Refused;
use crate::rotation::{Rotation, after};

/// The ticket keys that are known at one time. It never changes: [`KeyRing::rotated`] makes the next one.
#[derive(Clone, Debug)]
pub struct KeyRing {
    version: u64,
    keys: Vec<Arc<TicketKey>>,
    /// Where the next key comes from, if rotation made these.
    chain: Option<Arc<Chain>>,
    /// Whether the last key came without randomness.
    is_ratcheted: bool,
}

impl KeyRing {
    /// How many keys a ring may hold.
    pub const MAX_KEYS: usize = 64;
    /// How many of them rotation leaves. It needs three; more are there only while clocks disagree.
    const MOST_KEPT: usize = 16;
    /// Periods that a node which was away makes up for: at two an hour, half a year.
    const MOST_STEPS: u64 = 10_000;

    /// A ring of these keys, in any order. Its version is 1.
    ///
    /// # Errors
    /// [`KeyError::None`], [`KeyError::TooMany`], [`KeyError::Twice`].
    pub fn new(keys: impl IntoIterator<Item = TicketKey>) -> Result<Self, KeyError> {
        Self::with_version(1, keys.into_iter().map(Arc::new).collect())
    }

    pub(crate) fn with_version(version: u64, keys: Vec<Arc<TicketKey>>) -> Result<Self, KeyError> {
        if keys.is_empty() {
            return Err(KeyError::None);
        }
        if keys.len() > Self::MAX_KEYS {
            return Err(KeyError::TooMany { count: keys.len(), max: Self::MAX_KEYS });
        }
        let mut names: Vec<KeyName> = keys.iter().map(|key| key.name()).collect();
        names.sort_unstable();
        let twice = names.windows(2).find_map(|pair| (pair.first() == pair.last()).then(|| pair.first().copied())?);
        match twice {
            Some(name) => Err(KeyError::Twice(name)),
            None => Ok(Self { version, keys, chain: None, is_ratcheted: false }),
        }
    }

    pub(crate) fn with_chain(self, chain: Chain) -> Self {
        Self { chain: Some(Arc::new(chain)), ..self }
    }

    pub(crate) fn chain(&self) -> Option<&Chain> {
        self.chain.as_deref()
    }

    pub(crate) fn shared_keys(&self) -> &[Arc<TicketKey>] {
        &self.keys
    }

    pub(crate) fn at_version(self, version: u64) -> Self {
        Self { version, ..self }
    }

    /// A ring with one new key that encrypts from `now` on.
    ///
    /// # Errors
    /// [`KeyError::Random`].
    pub fn generate(rotation: &Rotation, now: UnixTime, random: &dyn Random) -> Result<Self, KeyError> {
        let (key, chain) = Chain::begin(after(now, Duration::ZERO), random)?.step(rotation)?;
        Ok(Self::new([key])?.with_chain(chain))
    }

    /// Counts the rings that followed one another: of two, the higher is the newer.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The keys, oldest first as far as they were made by rotation.
    pub fn keys(&self) -> impl Iterator<Item = &TicketKey> {
        self.keys.iter().map(|key| &**key)
    }

    /// The key that encrypts at `now`: of those that may, the one that began last. `None` if all are over, or none has
    /// begun: then there are no tickets, and handshakes are full.
    pub fn encryption_key(&self, now: UnixTime) -> Option<&TicketKey> {
        let may = |key: &&TicketKey| key.times().not_before <= now && now < key.times().encrypt_until;
        self.keys().filter(may).max_by_key(|key| key.times().not_before)
    }

    /// The key of this name.
    ///
    /// # Errors
    /// [`Refused::UnknownKey`]; [`Refused::KeyExpired`] once it must not decrypt any more.
    pub fn decryption_key(&self, name: KeyName, now: UnixTime) -> Result<&TicketKey, Refused> {
        let key = self.keys().find(|key| key.name() == name).ok_or(Refused::UnknownKey)?;
        if now < key.times().decrypt_until { Ok(key) } else { Err(Refused::KeyExpired) }
    }

    /// When [`KeyRing::rotated`] will have something to do, as seen from `now`.
    pub fn due(&self, rotation: &Rotation, now: UnixTime) -> UnixTime {
        let end = self.covered_until(now).as_secs().saturating_sub(rotation.ahead().as_secs());
        let expiry = self.keys().map(|key| key.times().decrypt_until.as_secs()).min().unwrap_or(end);
        UnixTime::since_unix_epoch(Duration::from_secs(end.min(expiry)))
    }

    /// The ring that should follow at `now`: the next key is there before it is used, and keys that decrypt nothing any
    /// more are gone. `None` while this one will do.
    ///
    /// # Errors
    /// [`KeyError::Random`].
    pub fn rotated(&self, rotation: &Rotation, now: UnixTime, random: &dyn Random) -> Result<Option<Self>, KeyError> {
        self.rotated_by(rotation, Clocks { own: now, store: now }, random)
    }

    /// The same where two clocks may disagree: a key is made for the own clock, and gone once it is over by both.
    pub(crate) fn rotated_by(
        &self,
        rotation: &Rotation,
        clocks: Clocks,
        random: &dyn Random,
    ) -> Result<Option<Self>, KeyError> {
        let (now, earlier) = (clocks.own, clocks.own.min(clocks.store));
        let covered = self.covered_until(now);
        let is_short = after(now, rotation.ahead()) >= covered;
        let is_over = |key: &Arc<TicketKey>| key.times().decrypt_until <= earlier;
        if !is_short && self.keys.len() <= Self::MOST_KEPT && !self.keys.iter().any(is_over) {
            return Ok(None);
        }
        let mut keys: Vec<_> = self.keys.iter().filter(|key| !is_over(key)).cloned().collect();
        let mut chain = self.chain.clone();
        if is_short {
            let fits = chain.filter(|chain| chain.begins() == covered);
            // After a gap, or a clock that leapt, nothing is lost by new randomness.
            let begun = fits.map_or_else(|| Chain::begin(covered, random).map(Arc::new), Ok)?;
            let (key, next) = begun.step(rotation)?;
            keys.push(Arc::new(key));
            chain = Some(Arc::new(next.mixed(random)?));
        }
        Self::nearest(&mut keys, clocks, rotation);
        Ok(Some(Self { chain, ..Self::with_version(self.version.saturating_add(1), keys)? }))
    }

    /// What follows at `now` for a node that cannot ask the others: the keys that each of them would make, without randomness. Keys that
    /// are over are gone, and so is the secret that they came from. `None` while this ring will do, or if the clock is before the
    /// chain or too far behind it.
    pub fn ratcheted(&self, rotation: &Rotation, now: UnixTime) -> Option<Self> {
        let enough = after(now, rotation.ahead());
        let mut next = Chain::from_parts(self.chain()?.secret(), self.chain()?.begins());
        let missed = enough.as_secs().checked_sub(next.begins().as_secs())? / rotation.period().as_secs().max(1);
        if missed > Self::MOST_STEPS {
            return None;
        }
        let mut keys = self.keys.clone();
        while next.begins() <= enough {
            let (key, following) = next.step(rotation).ok()?;
            keys.push(Arc::new(key));
            next = following;
        }
        keys.retain(|key| now < key.times().decrypt_until);
        Self::nearest(&mut keys, Clocks { own: now, store: now }, rotation);
        let ring = Self::with_version(self.version.saturating_add(1), keys).ok()?.with_chain(next);
        Some(Self { is_ratcheted: true, ..ring })
    }

    /// The same with fresh randomness for the keys to come, if the last came without.
    pub(crate) fn refreshed(self, random: &dyn Random) -> Result<Self, KeyError> {
        match self.chain().filter(|_| self.is_ratcheted) {
            Some(chain) => {
                let chain = Some(Arc::new(chain.mixed(random)?));
                Ok(Self { chain, is_ratcheted: false, ..self })
            }
            None => Ok(self),
        }
    }

    /// The same with the keys that a node made or had apart from the others, as far as there is room, and whether there were any. They
    /// decrypt what was encrypted until now, and encrypt nothing more: nodes that are away do not know them.
    pub(crate) fn joined(mut self, other: &Self, rotation: &Rotation, clocks: Clocks) -> Result<(Self, bool), KeyError> {
        let later = clocks.own.max(clocks.store);
        let room = Self::MOST_KEPT.saturating_sub(self.keys.len());
        let is_missing = |key: &&Arc<TicketKey>| !self.keys.iter().any(|own| own.name() == key.name());
        let retired = other.keys.iter().filter(is_missing).filter_map(|key| {
            let KeyTimes { not_before, encrypt_until, decrypt_until } = key.times();
            let encrypt_until = encrypt_until.min(later);
            let times = KeyTimes {
                not_before,
                encrypt_until,
                decrypt_until: decrypt_until.min(after(encrypt_until, rotation.lifetime())),
            };
            let is_used = not_before < encrypt_until && later < times.decrypt_until;
            is_used.then(|| TicketKey::new(key.name(), key.material(), times).map(Arc::new))
        });
        let retired = retired.take(room).collect::<Result<Vec<_>, _>>()?;
        let is_changed = !retired.is_empty();
        self.keys.extend(retired);
        self.keys.sort_by_key(|key| key.times().not_before);
        self.version = self.version.saturating_add(u64::from(is_changed));
        Ok((self, is_changed))
    }

    /// Whether its last key came without randomness.
    pub(crate) fn is_ratcheted(&self) -> bool {
        self.is_ratcheted
    }

    /// Clocks have leapt, again and again: those keys stay whose time is nearest by either clock.
    fn nearest(keys: &mut Vec<Arc<TicketKey>>, clocks: Clocks, rotation: &Rotation) {
        if keys.len() > Self::MOST_KEPT {
            let distance = |key: &Arc<TicketKey>| clocks.distance(key.times(), rotation.ahead());
            keys.sort_by_key(|key| (distance(key), key.times().not_before));
            keys.truncate(Self::MOST_KEPT);
            keys.sort_by_key(|key| key.times().not_before);
        }
    }

    /// Until when there is a key to encrypt with, from `now` on without a gap; `now` if there is none. A key that begins
    /// in the far future, since a clock once leapt, covers nothing.
    fn covered_until(&self, now: UnixTime) -> UnixTime {
        let mut until = now;
        let encrypts = |key: &&TicketKey, at| key.times().not_before <= at && at < key.times().encrypt_until;
        while let Some(key) = self.keys().find(|key| encrypts(key, until)) {
            until = key.times().encrypt_until;
        }
        until
    }
}

/// What two clocks say that ought to say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// This node's.
    pub own: UnixTime,
    /// That of the store, which all nodes have in common, and which nobody vouches for.
    pub store: UnixTime,
}

impl Clocks {
    /// How many seconds a key's time is away from the nearer clock; 0 if it is in use or about to be.
    fn distance(&self, times: KeyTimes, ahead: Duration) -> u64 {
        let from = |now: UnixTime| {
            let until_begin = times.not_before.as_secs().saturating_sub(after(now, ahead).as_secs());
            until_begin.max(now.as_secs().saturating_sub(times.decrypt_until.as_secs()))
        };
        from(self.own).min(from(self.store))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::random::SystemRandom;

    fn rotation() -> Rotation {
        Rotation::new(Duration::from_secs(100)).unwrap()
    }

    #[test]
    fn the_next_key_is_published_before_its_use() {
        let first = KeyRing::generate(&rotation(), at(1000), &SystemRandom).unwrap();
        assert!(first.rotated(&rotation(), at(1049), &SystemRandom).unwrap().is_none());
        let second = first.rotated(&rotation(), at(1050), &SystemRandom).unwrap().unwrap();
        assert_eq!((second.version(), second.keys().count()), (2, 2));
        // Nothing changes at once, and there is no gap at the change.
        let [old, new] = [0, 1].map(|index| second.keys[index].name());
        assert_eq!(second.encryption_key(at(1099)).unwrap().name(), old);
        assert_eq!(second.encryption_key(at(1100)).unwrap().name(), new);
        // A node whose clock is ahead may already have used it.
        assert!(second.decryption_key(new, at(1050)).is_ok());
    }

    #[test]
    fn a_key_that_decrypts_nothing_any_more_is_gone() {
        let first = KeyRing::generate(&rotation(), at(1000), &SystemRandom).unwrap();
        let old = first.keys[0].name();
        let second = first.rotated(&rotation(), at(1050), &SystemRandom).unwrap().unwrap();
        assert!(second.decryption_key(old, at(1199)).is_ok());
        assert_eq!(second.decryption_key(old, at(1200)).unwrap_err(), Refused::KeyExpired);
        let third = second.rotated(&rotation(), at(1200), &SystemRandom).unwrap().unwrap();
        assert_eq!(third.decryption_key(old, at(1200)).unwrap_err(), Refused::UnknownKey);
    }

    #[test]
    fn a_ring_that_nobody_renews_stops_encrypting() {
        let ring = KeyRing::generate(&rotation(), at(1000), &SystemRandom).unwrap();
        assert!(ring.encryption_key(at(999)).is_none());
        assert!(ring.encryption_key(at(1100)).is_none());
        // Whoever renews it late begins at once.
        let late = ring.rotated(&rotation(), at(5000), &SystemRandom).unwrap().unwrap();
        assert_eq!(late.encryption_key(at(5000)).unwrap().times().not_before, at(5000));
    }

    #[test]
    fn a_ring_rotates_for_ever_and_stays_small() {
        let mut ring = KeyRing::generate(&rotation(), at(0), &SystemRandom).unwrap();
        for second in 0..5000 {
            if let Some(next) = ring.rotated(&rotation(), at(second), &SystemRandom).unwrap() {
                ring = next;
            }
            assert!(ring.encryption_key(at(second)).is_some(), "{second}");
            assert!(ring.keys().count() <= 3, "{second}: {ring:?}");
            assert!(at(second) < ring.due(&rotation(), at(second)), "{second}");
        }
    }

    #[test]
    fn a_clock_that_leaps_and_returns_finds_a_key() {
        let (mut ring, mut now) = (KeyRing::generate(&rotation(), at(0), &SystemRandom).unwrap(), 0);
        let next = |ring: KeyRing, now| ring.rotated(&rotation(), at(now), &SystemRandom).unwrap().unwrap_or(ring);
        // An hour, a day, a year, and again and again a little more.
        for leap in [3600, 86_400, 31_536_000].into_iter().chain((1..100).map(|number| 100_000 * number)) {
            for second in [now, now + leap, now] {
                ring = next(ring, second);
                assert!(ring.encryption_key(at(second)).is_some(), "{leap}");
                assert!(ring.keys().count() <= KeyRing::MOST_KEPT, "{leap}");
            }
            now += 10;
        }
    }

    #[test]
    fn one_clock_alone_makes_no_key_go() {
        let ring = KeyRing::generate(&rotation(), at(1000), &SystemRandom).unwrap();
        let name = ring.keys[0].name();
        for (own, store) in [(1000, 9_999_999), (9_999_999, 1000)] {
            let clocks = Clocks { own: at(own), store: at(store) };
            let next = ring.rotated_by(&rotation(), clocks, &SystemRandom).unwrap().unwrap_or_else(|| ring.clone());
            assert!(next.decryption_key(name, at(1000)).is_ok(), "{clocks:?}");
            assert!(next.encryption_key(at(own)).is_some(), "{clocks:?}");
        }
    }

    #[test]
    fn empty_and_ambiguous_rings_are_refused() {
        assert_eq!(KeyRing::new([]).unwrap_err(), KeyError::None);
        let key = |byte: u8| {
            let mut material = [0; 64];
            SystemRandom.fill(&mut material).unwrap();
            TicketKey::new(KeyName([byte; 16]), &material, rotation().times(at(0))).unwrap()
        };
        assert_eq!(KeyRing::new([key(1), key(2), key(1)]).unwrap_err(), KeyError::Twice(KeyName([1; 16])));
    }
}
