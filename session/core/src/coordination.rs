//! How nodes agree on a ring in a store that can compare and set: each looks, now and then, and does what [`next_step`] says.
//! Whichever node comes first when the next key is due publishes it; all others find it there. A node that cannot look goes on by
//! [`KeyRing::ratcheted`], and all that cannot make the same keys.

use rustls_pki_types::UnixTime;

use crate::key::KeyError;
use crate::random::Random;
pub use crate::ring::Clocks;
use crate::ring::KeyRing;
use crate::rotation::Rotation;
use crate::sealed_ring::{KeyEncryptionKeys, SealedRingError};

/// What a node does about the ring that it found in the store.
#[derive(Debug)]
#[non_exhaustive]
pub enum RingAction {
    /// Use it.
    Use(KeyRing),
    /// Put this one under the first of [`KeyEncryptionKeys::ids`], if what was found there still is, and only then use it.
    Publish {
        /// The ring.
        ring: KeyRing,
        /// The same, sealed.
        sealed: Vec<u8>,
        /// What was wrong with what stood there, where it was no ring: the store garbled it.
        repairs: Option<SealedRingError>,
    },
}

/// A ring to begin with until the store has been seen: whatever is there takes its place.
///
/// # Errors
/// [`KeyError::Random`].
pub fn provisional(rotation: &Rotation, now: UnixTime, random: &dyn Random) -> Result<KeyRing, KeyError> {
    Ok(KeyRing::generate(rotation, now, random)?.at_version(0))
}

/// Decides what to do with `found`, the sealed rings in the store under each of [`KeyEncryptionKeys::ids`], having `current`.
///
/// A store that lost the ring, garbled it, or came back with an older one, gets the current one: nothing is lost, and no key comes
/// back that is gone. Keys that this node made while it could not look, and that the ring in the store has not, are added. Each node
/// sees to it that there is a key for its own clock. The store's clock can do nothing but keep a key
/// that is over by the node's: a node whose clock is ahead must not take away what others use.
///
/// # Errors
/// A key cannot be made: [`KeyError::Random`].
pub fn next_step(
    current: &KeyRing,
    found: &[Option<Vec<u8>>],
    rotation: &Rotation,
    keys: &KeyEncryptionKeys,
    clocks: Clocks,
    random: &dyn Random,
) -> Result<RingAction, KeyError> {
    let opened = found.iter().map(|sealed| sealed.as_ref().map(|sealed| KeyRing::open(keys, sealed)));
    let opened: Vec<_> = opened.map(Option::transpose).collect();
    let repairs = opened.first().and_then(|first| first.as_ref().err().copied());
    let first_version = opened.first().and_then(|first| first.as_ref().ok()?.as_ref().map(KeyRing::version));
    // Of those that several keys seal while they are being replaced, the newest.
    let stored = opened.into_iter().filter_map(Result::ok).flatten().max_by_key(KeyRing::version);
    let version = current.version().max(1);
    let (base, is_joined) = match stored {
        // What a node made for itself before it saw any ring is nobody else's.
        Some(stored) if current.version() == 0 => (stored, false),
        // The others went on while this node was away: theirs counts, however often this node made a key.
        Some(stored)
            if stored.version() >= version || current.is_ratcheted() && stored.encryption_key(clocks.own).is_some() =>
        {
            let newest = stored.version().max(version);
            stored.at_version(newest).joined(current, rotation, clocks)?
        }
        Some(stored) => current.clone().joined(&stored, rotation, clocks)?,
        None => (current.clone().at_version(version), false),
    };
    let must_publish = is_joined || first_version != Some(base.version());
    // A node whose clock is that far behind would add what all others take away again: it goes without.
    let is_behind = rotation.times(clocks.own).decrypt_until <= clocks.store && base.encryption_key(clocks.store).is_some();
    let next = if is_behind { None } else { base.rotated_by(rotation, clocks, random)? };
    match next {
        None if !must_publish => Ok(RingAction::Use(base)),
        next => {
            let ring = next.unwrap_or(base).refreshed(random)?;
            let sealed = ring.seal(keys, random)?;
            Ok(RingAction::Publish { ring, sealed, repairs })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::*;
    use crate::at;
    use crate::key::{KeyName, TicketKey};
    use crate::random::SystemRandom;
    use crate::ring_handle::RingHandle;

    fn keys() -> KeyEncryptionKeys {
        let mut key = [0; 32];
        SystemRandom.fill(&mut key).unwrap();
        KeyEncryptionKeys::new([&key[..]]).unwrap()
    }

    /// One node: it looks, and then, if there was something to do, compares and sets.
    struct Node {
        handle: RingHandle,
        pending: Option<(Option<Vec<u8>>, KeyRing, Vec<u8>)>,
    }

    /// A fleet and its store at one moment.
    struct World {
        nodes: [Node; 2],
        store: Option<Vec<u8>>,
        rotation: Rotation,
        keys: KeyEncryptionKeys,
        now: u64,
        /// How far the store's clock, and that of the second node, are ahead.
        store_ahead: i64,
        second_ahead: i64,
        /// Every key that ever stood in the store.
        published: BTreeSet<KeyName>,
    }

    impl World {
        fn new() -> Self {
            let rotation = Rotation::new(Duration::from_secs(100)).unwrap();
            let node = || {
                let ring = provisional(&rotation, at(1000), &SystemRandom).unwrap();
                Node { handle: RingHandle::new(ring), pending: None }
            };
            let nodes = [node(), node()];
            World {
                nodes,
                store: None,
                rotation,
                keys: keys(),
                now: 1000,
                store_ahead: 0,
                second_ahead: 0,
                published: BTreeSet::new(),
            }
        }

        /// What a node's clock and the store's say.
        fn clocks(&self, index: usize) -> Clocks {
            let ahead = |seconds| at(self.now.saturating_add_signed(seconds));
            Clocks { own: ahead(if index == 1 { self.second_ahead } else { 0 }), store: ahead(self.store_ahead) }
        }

        /// The next atomic step of one node: a GET, or a compare-and-set.
        fn step(&mut self, index: usize) {
            let clocks = self.clocks(index);
            let node = &mut self.nodes[index];
            let Some((expected, ring, sealed)) = node.pending.take() else {
                let current = node.handle.load(at(self.now));
                let found = std::slice::from_ref(&self.store);
                match next_step(&current, found, &self.rotation, &self.keys, clocks, &SystemRandom).unwrap() {
                    RingAction::Use(ring) => assert!(node.handle.replace(ring)),
                    RingAction::Publish { ring, sealed, .. } => node.pending = Some((self.store.clone(), ring, sealed)),
                }
                return;
            };
            if self.store == expected {
                self.store = Some(sealed);
                self.published.extend(ring.keys().map(|key| key.name()));
                assert!(node.handle.replace(ring));
            }
        }

        /// Whatever a node would encrypt with after it has seen the store has been published.
        fn check(&self) {
            for node in &self.nodes {
                let ring = node.handle.load(at(self.now));
                if ring.version() > 0 {
                    assert!(ring.keys().all(|key| self.published.contains(&key.name())));
                }
            }
        }

        /// Both look until nothing changes.
        fn settle(&mut self) {
            for _ in 0..6 {
                self.step(0);
                self.step(1);
            }
            let [one, two] = [0, 1].map(|index| self.nodes[index].handle.load(at(self.now)));
            let names = |ring: &KeyRing| ring.keys().map(|key| key.name()).collect::<Vec<_>>();
            assert_eq!((one.version(), names(&one)), (two.version(), names(&two)));
        }
    }

    #[test]
    fn two_writers_agree_in_every_interleaving() {
        const STEPS: u32 = 8;
        // Bit n says whose step the n-th is. In the middle the next key falls due.
        for order in 0..1u32 << STEPS {
            for due_at in 0..STEPS {
                let mut world = World::new();
                for step in 0..STEPS {
                    if step == due_at {
                        world.now = 1060;
                    }
                    world.step((order >> step & 1) as usize);
                    world.check();
                }
                world.settle();
                let ring = world.nodes[0].handle.load(at(world.now));
                assert!(ring.keys().count() <= 3 && ring.encryption_key(at(1100)).is_some());
            }
        }
    }

    #[test]
    fn a_flushed_or_rolled_back_store_gets_the_ring_again() {
        const STEPS: u32 = 6;
        for order in 0..1u32 << STEPS {
            for fault_at in 0..STEPS {
                for rolled_back in [false, true] {
                    let mut world = World::new();
                    world.settle();
                    let old = world.store.clone();
                    world.now = 1060;
                    world.settle();
                    let before = world.nodes[0].handle.load(at(1060));
                    for step in 0..STEPS {
                        if step == fault_at {
                            world.store = if rolled_back { old.clone() } else { None };
                        }
                        world.step((order >> step & 1) as usize);
                        world.check();
                    }
                    world.settle();
                    let after = world.nodes[0].handle.load(at(1060));
                    assert!(before.keys().all(|key| after.decryption_key(key.name(), at(1060)).is_ok()));
                }
            }
        }
    }

    /// An hour, a day, a year; either way as far as there is time before.
    const LEAPS: [i64; 5] = [3600, 86_400, 31_536_000, -3600, -86_400];

    /// Away and back, in the middle of a rotation and beyond it: no key is taken away, and there is always one that encrypts.
    fn assert_keeps_its_keys(leap: i64, set: fn(&mut World, i64)) {
        let mut world = World::new();
        world.now = 1_000_000;
        world.settle();
        for (seconds, ahead) in [(0, leap), (60, leap), (60, leap), (60, 0), (0, leap), (0, 0), (300, 0)] {
            world.now += seconds;
            set(&mut world, ahead);
            let now = at(world.now);
            let before = world.nodes[0].handle.load(now);
            world.settle();
            let ring = world.nodes[0].handle.load(now);
            assert!(ring.encryption_key(now).is_some(), "no ticket: {leap} {ring:?}");
            let is_kept = |key: &TicketKey| key.times().decrypt_until <= now || ring.decryption_key(key.name(), now).is_ok();
            assert!(before.keys().all(is_kept), "{leap}");
            assert!(ring.keys().count() <= 16, "{leap}");
            // They do not undo one another's work for ever.
            world.settle();
            assert_eq!(world.nodes[0].handle.load(now).version(), ring.version(), "{leap}");
        }
    }

    #[test]
    fn a_store_whose_clock_leaps_takes_no_key_away() {
        LEAPS.into_iter().for_each(|leap| assert_keeps_its_keys(leap, |world, ahead| world.store_ahead = ahead));
    }

    #[test]
    fn a_node_whose_clock_leaps_takes_no_key_away() {
        LEAPS.into_iter().for_each(|leap| assert_keeps_its_keys(leap, |world, ahead| world.second_ahead = ahead));
    }

    #[test]
    fn a_garbled_ring_is_repaired_under_its_own_name() {
        let rotation = Rotation::new(Duration::from_secs(100)).unwrap();
        let (ours, theirs) = (keys(), keys());
        let current = provisional(&rotation, at(0), &SystemRandom).unwrap().at_version(7);
        let clocks = Clocks { own: at(0), store: at(0) };
        let mut sealed = current.seal(&ours, &SystemRandom).unwrap();
        let garbled = [b"nonsense".to_vec(), Vec::new(), sealed[..90].to_vec(), {
            sealed[60] ^= 1;
            sealed
        }];
        for found in garbled {
            let step = next_step(&current, &[Some(found)], &rotation, &ours, clocks, &SystemRandom).unwrap();
            let RingAction::Publish { ring, repairs, .. } = step else { panic!("{step:?}") };
            assert!(ring.version() == 7 && repairs.is_some());
        }
        assert_ne!(ours.ids().next(), theirs.ids().next());
    }

    #[test]
    fn while_keys_are_replaced_the_newest_ring_counts_and_moves() {
        let rotation = Rotation::new(Duration::from_secs(100)).unwrap();
        let [old, new] = [7, 8].map(|byte: u8| {
            let mut key = [byte; 32];
            key.iter_mut().enumerate().for_each(|(at, byte)| *byte ^= at as u8);
            key
        });
        let both = KeyEncryptionKeys::new([&new[..], &old[..]]).unwrap();
        let ring = provisional(&rotation, at(0), &SystemRandom).unwrap().at_version(3);
        let sealed = ring.seal(&KeyEncryptionKeys::new([&old[..]]).unwrap(), &SystemRandom).unwrap();
        let own = provisional(&rotation, at(0), &SystemRandom).unwrap();
        let clocks = Clocks { own: at(0), store: at(0) };
        let step = next_step(&own, &[None, Some(sealed)], &rotation, &both, clocks, &SystemRandom).unwrap();
        let RingAction::Publish { ring: moved, sealed, repairs: None } = step else { panic!("{step:?}") };
        assert_eq!(moved.keys().next().unwrap().name(), ring.keys().next().unwrap().name());
        assert!(KeyRing::open(&KeyEncryptionKeys::new([&new[..]]).unwrap(), &sealed).is_ok());
    }
}
