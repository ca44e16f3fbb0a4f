use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use rustls_pki_types::UnixTime;

use crate::key::KeyError;
use crate::metrics::{Metrics, Relay};
use crate::random::{Random, SystemRandom};
use crate::ring::KeyRing;
use crate::rotation::Rotation;

/// The ring in use, shared by all connections of a process; whoever holds a clone may replace it.
#[derive(Clone, Debug)]
pub struct RingHandle(Arc<Shared>);

/// A handle that does not keep the ring: for those who renew it.
#[derive(Clone, Debug)]
pub struct WeakRingHandle(Weak<Shared>);

impl WeakRingHandle {
    /// The handle, while there is another.
    pub fn upgrade(&self) -> Option<RingHandle> {
        self.0.upgrade().map(RingHandle)
    }
}

#[derive(Debug)]
struct Shared {
    current: RwLock<Arc<KeyRing>>,
    own: Option<Own>,
    /// What renews the ring, and ends with the last handle.
    renewing: OnceLock<Arc<dyn Debug + Send + Sync>>,
    relay: Arc<Relay>,
}

/// A ring that is rotated here, and nowhere else.
#[derive(Debug)]
struct Own {
    rotation: Rotation,
    /// From when until when the ring will do, in seconds since 1970: nearly always two loads tell that there is nothing to
    /// do. A clock that was put back is before it.
    checked: AtomicU64,
    due: AtomicU64,
    rotating: Mutex<()>,
}

impl RingHandle {
    /// A ring that someone else replaces: a file that is watched, a shared store.
    pub fn new(ring: KeyRing) -> Self {
        Self::of(ring, None)
    }

    fn of(ring: KeyRing, own: Option<Own>) -> Self {
        let current = RwLock::new(Arc::new(ring));
        Self(Arc::new(Shared { current, own, renewing: OnceLock::new(), relay: Arc::default() }))
    }

    /// A ring of this process alone, in memory, with random keys that rotate on their own as it is used.
    ///
    /// # Errors
    /// [`KeyError::Random`].
    pub fn in_memory(rotation: Rotation, now: UnixTime) -> Result<Self, KeyError> {
        let ring = KeyRing::generate(&rotation, now, &SystemRandom)?;
        let due = AtomicU64::new(ring.due(&rotation, now).as_secs());
        let own = Own { rotation, checked: AtomicU64::new(now.as_secs()), due, rotating: Mutex::new(()) };
        Ok(Self::of(ring, Some(own)))
    }

    /// Keeps what renews the ring alive for as long as a handle is: nobody can drop it by mistake. It must hold no handle itself,
    /// but what [`RingHandle::downgrade`] returns. The first one is kept.
    pub fn keep(&self, renewing: Arc<dyn Debug + Send + Sync>) {
        // A second one is its owner's business.
        let _ = self.0.renewing.set(renewing);
    }

    /// Tells `metrics` what becomes of the ring and of what renews it, key files or a shared store, and how that is now. Whoever
    /// gives them to [`Resumption`](crate::rustls::Resumption) need not.
    pub fn report_to(&self, metrics: Arc<dyn Metrics>) {
        self.0.relay.keep(metrics);
    }

    /// The same, for as long as somebody else holds them.
    #[cfg(feature = "rustls")]
    pub(crate) fn report_to_holder_of(&self, metrics: &Arc<dyn Metrics>) {
        self.0.relay.add(metrics);
    }

    /// All who are told: for what renews the ring to tell them. It holds no ring.
    pub fn reported(&self) -> Arc<dyn Metrics> {
        Arc::clone(&self.0.relay) as _
    }

    /// A handle that does not keep the ring.
    pub fn downgrade(&self) -> WeakRingHandle {
        WeakRingHandle(Arc::downgrade(&self.0))
    }

    /// The ring at `now`.
    pub fn load(&self, now: UnixTime) -> Arc<KeyRing> {
        if let Some(own) = &self.0.own
            && !(own.checked.load(Ordering::Relaxed)..own.due.load(Ordering::Relaxed)).contains(&now.as_secs())
        {
            self.rotate(own, now, &SystemRandom);
        }
        Arc::clone(&self.0.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the ring, unless it is newer than `ring`: whoever offers an old ring again, by mistake or by design, changes
    /// nothing. Returns whether `ring` is in force.
    pub fn replace(&self, ring: KeyRing) -> bool {
        let mut current = self.0.current.write().unwrap_or_else(PoisonError::into_inner);
        let is_current = ring.version() >= current.version();
        if is_current {
            *current = Arc::new(ring);
        }
        is_current
    }

    /// Replaces the ring by one that has no history, of a file: it gets the next version.
    pub(crate) fn follow_with(&self, ring: KeyRing) {
        let mut current = self.0.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(ring.at_version(current.version().saturating_add(1)));
    }

    fn rotate(&self, own: &Own, now: UnixTime, random: &dyn Random) {
        // One does it, the others go on with the ring that there is: the next key is not used yet.
        let Ok(_one) = own.rotating.try_lock() else { return };
        let current = Arc::clone(&self.0.current.read().unwrap_or_else(PoisonError::into_inner));
        // Without randomness the ring stays, its expiries hold, and the next connection tries again.
        let Ok(next) = current.rotated(&own.rotation, now, random) else { return };
        let due = next.as_ref().unwrap_or(&current).due(&own.rotation, now);
        own.checked.store(now.as_secs(), Ordering::Relaxed);
        own.due.store(due.as_secs(), Ordering::Relaxed);
        next.map(|next| self.replace(next));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::at;

    #[test]
    fn a_ring_in_memory_rotates_by_being_used() {
        let ring = RingHandle::in_memory(Rotation::new(Duration::from_secs(100)).unwrap(), at(0)).unwrap();
        let first = ring.load(at(0)).encryption_key(at(0)).unwrap().name();
        let second = ring.load(at(120)).encryption_key(at(120)).unwrap().name();
        assert_ne!(first, second);
        assert!(ring.load(at(10_000)).encryption_key(at(10_000)).is_some());
    }

    #[test]
    fn a_clock_that_leaps_and_returns_leaves_no_gap() {
        let ring = RingHandle::in_memory(Rotation::new(Duration::from_secs(100)).unwrap(), at(1000)).unwrap();
        for leap in [3600, 86_400, 31_536_000] {
            for second in [1000, 1000 + leap, 1000, 999, 1001] {
                assert!(ring.load(at(second)).encryption_key(at(second)).is_some(), "{second}");
            }
        }
    }

    #[test]
    fn an_older_ring_does_not_come_back() {
        let rotation = Rotation::new(Duration::from_secs(100)).unwrap();
        let old = KeyRing::generate(&rotation, at(0), &SystemRandom).unwrap();
        let new = old.rotated(&rotation, at(60), &SystemRandom).unwrap().unwrap();
        let ring = RingHandle::new(new);
        assert!(!ring.replace(old));
        assert_eq!(ring.load(at(60)).version(), 2);
    }
}
