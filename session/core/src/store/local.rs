use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustls_pki_types::UnixTime;
use siphasher::sip::SipHasher13;

use super::limits::StoreLimits;
use super::shard::{Id, Key, Shard, StoredState};
use crate::rotation::after;

const MOST_SHARDS: usize = 64;
/// Fewer entries than this a shard, and a shard would be full while others are empty.
const LEAST_IN_SHARD: usize = 64;
const LEAST_BYTES_IN_SHARD: usize = 1 << 16;

/// Sessions in the memory of this process, bounded by entries and by bytes. Of more, those are forgotten that were not used for
/// long: each time the one of eight.
///
/// IDs are an attacker's choice, so the hash that spreads them over shards and indexes has a secret seed. States are zeroed
/// when they go.
///
/// ```
/// use std::time::Duration;
/// use reprise_session::store::{LocalStore, StoreLimits};
/// use reprise_session::{Random, SystemRandom};
/// # use rustls_pki_types::UnixTime;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut seed = [0; 16];
/// SystemRandom.fill(&mut seed)?;
/// let store = LocalStore::new(StoreLimits::new(100_000, 64 << 20), seed);
/// let (now, id) = (UnixTime::now(), [7; 32]);
/// assert!(store.put(now, &id, b"a session", Duration::from_secs(3600)));
/// assert_eq!(store.take(now, &id).as_deref(), Some(&b"a session"[..]));
/// assert!(store.take(now, &id).is_none());
/// # Ok(())
/// # }
/// ```
pub struct LocalStore {
    shards: Box<[Mutex<Shard>]>,
    hash: SipHasher13,
}

impl LocalStore {
    /// An empty store. `seed` comes from a source of randomness.
    pub fn new(limits: StoreLimits, seed: [u8; 16]) -> Self {
        let count = (limits.entries / LEAST_IN_SHARD).min(limits.bytes / LEAST_BYTES_IN_SHARD).clamp(1, MOST_SHARDS);
        let each = StoreLimits { entries: limits.entries / count, bytes: limits.bytes / count };
        let shards = std::iter::repeat_with(|| Mutex::new(Shard::new(each))).take(count).collect();
        Self { shards, hash: SipHasher13::new_with_key(&seed) }
    }

    /// Stores `state` under `id` for `lifetime`. Returns whether it did: a state above the bound of a shard is not stored.
    pub fn put(&self, now: UnixTime, id: &[u8; 32], state: &[u8], lifetime: Duration) -> bool {
        let (key, mut shard) = self.find(id);
        shard.put(now, key, state, after(now, lifetime), false)
    }

    /// The same for a client that has come back with a session before: a flood of others does not drive it out. A session that
    /// [`LocalStore::get`] finds is kept likewise.
    pub fn put_renewed(&self, now: UnixTime, id: &[u8; 32], state: &[u8], lifetime: Duration) -> bool {
        let (key, mut shard) = self.find(id);
        shard.put(now, key, state, after(now, lifetime), true)
    }

    /// A copy of what stands under `id`, as TLS 1.2 session IDs need it: they are used again and again.
    pub fn get(&self, now: UnixTime, id: &[u8; 32]) -> Option<StoredState> {
        let (key, mut shard) = self.find(id);
        shard.get(now, key)
    }

    /// Takes what stands under `id`: of any number of takers, one gets it.
    pub fn take(&self, now: UnixTime, id: &[u8; 32]) -> Option<StoredState> {
        let (key, mut shard) = self.find(id);
        shard.take(now, key)
    }

    /// How many entries there are, expired ones included.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all entries, as [`StoreLimits::bytes`] counts them.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).bytes()).sum()
    }

    /// The shard in which `id` would stand, locked, and the key to find it by there.
    fn find<'a>(&self, id: &'a Id) -> (Key<'a>, MutexGuard<'_, Shard>) {
        let hash = self.hash.hash(id);
        // Half of the hash for the shard, and half for its table. There is always a shard: see `new`.
        let index = (hash >> 32) as usize % self.shards.len().max(1);
        (Key { id, hash: hash as u32 }, lock(&self.shards[index]))
    }
}

/// A panic of one connection's thread is no reason to stop all others; no operation leaves a shard half done.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for LocalStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalStore").field("shards", &self.shards.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    const HOUR: Duration = Duration::from_secs(3600);

    fn id(number: u32) -> Id {
        let mut id = [7; 32];
        id[..4].copy_from_slice(&number.to_be_bytes());
        id
    }

    fn store(entries: usize, bytes: usize) -> LocalStore {
        LocalStore::new(StoreLimits { entries, bytes }, [3; 16])
    }

    fn put(store: &LocalStore, number: u32, length: usize) -> bool {
        store.put(at(0), &id(number), &vec![1; length], HOUR)
    }

    #[test]
    fn taking_is_once_and_getting_is_not() {
        let store = store(10, 10_000);
        put(&store, 1, 100);
        assert_eq!(store.get(at(1), &id(1)).unwrap().len(), 100);
        assert_eq!(store.take(at(1), &id(1)).unwrap().len(), 100);
        assert!(store.take(at(1), &id(1)).is_none());
        assert_eq!((store.len(), store.bytes()), (0, 0));
    }

    #[test]
    fn the_least_recently_used_is_forgotten() {
        let store = store(3, 10_000);
        for number in 1..=3 {
            put(&store, number, 10);
        }
        store.get(at(1), &id(1));
        put(&store, 4, 10);
        let there: Vec<u32> = (1..=4).filter(|&number| store.get(at(1), &id(number)).is_some()).collect();
        assert_eq!(there, [1, 3, 4]);
    }

    #[test]
    fn bytes_are_bounded_whatever_clients_certificates_weigh() {
        let store = store(1000, 1000);
        assert!(!put(&store, 0, 1000));
        for number in 0..100 {
            assert!(put(&store, number, if number % 2 == 0 { 200 } else { 400 }));
            assert!(store.bytes() <= 1000, "{number}: {}", store.bytes());
        }
        assert_eq!((store.len(), store.bytes()), (2, 256 + 256 + 400));
        // What is replaced does not count twice.
        put(&store, 99, 300);
        put(&store, 99, 300);
        assert_eq!(store.bytes(), 256 + 256 + 300);
    }

    #[test]
    fn states_of_any_length_come_back_as_they_were() {
        let store = store(1000, 1 << 20);
        let state = |length: usize| (0..length).map(|byte| byte as u8).collect::<Vec<_>>();
        let lengths = [0, 1, 207, 208, 209, 1000, 20_000];
        for (number, length) in lengths.into_iter().enumerate() {
            assert!(store.put(at(0), &id(number as u32), &state(length), HOUR));
        }
        for (number, length) in lengths.into_iter().enumerate() {
            let id = id(number as u32);
            assert_eq!(*store.get(at(1), &id).unwrap(), state(length), "{length}");
            assert_eq!(*store.take(at(1), &id).unwrap(), state(length), "{length}");
            assert!(store.take(at(1), &id).is_none());
        }
        assert_eq!(store.bytes(), 0);
    }

    #[test]
    fn what_was_used_lately_stays() {
        // One shard.
        let store = store(100, 60_000);
        let is_there = |number: &u32| store.get(at(1), &id(*number)).is_some();
        (0..100).for_each(|number| assert!(put(&store, number, 8)));
        // Ten are used again and again while two hundred others come.
        for number in 100..300 {
            is_there(&(number % 10));
            put(&store, number, 8);
        }
        let used = (0..10).filter(is_there).count();
        let unused = (10..100).filter(is_there).count();
        assert!(used >= 8 && unused <= 10, "{used} of 10 that are used, {unused} of 90 that are not");
    }

    #[test]
    fn a_flood_of_clients_that_come_once_drives_nobody_out() {
        const CAPACITY: u32 = 8192;
        for renewed in [false, true] {
            let store = store(CAPACITY as usize, 1 << 30);
            let idle = 0..CAPACITY / 4;
            for number in idle.clone() {
                if renewed {
                    assert!(store.put_renewed(at(0), &id(number), &[1; 8], HOUR));
                } else {
                    put(&store, number, 8);
                    assert!(store.get(at(0), &id(number)).is_some());
                }
            }
            (0..2 * CAPACITY).for_each(|number| assert!(put(&store, 1_000_000 + number, 8)));
            let left = idle.clone().filter(|&number| store.take(at(1), &id(number)).is_some()).count();
            assert!(left >= idle.len() * 99 / 100, "{left} of {}", idle.len());
        }
    }

    #[test]
    fn who_stays_away_for_long_makes_room() {
        const CAPACITY: u32 = 1024;
        let store = store(CAPACITY as usize, 1 << 30);
        (0..CAPACITY).for_each(|number| assert!(store.put_renewed(at(0), &id(number), &[1; 8], HOUR)));
        (0..10 * CAPACITY).for_each(|number| assert!(put(&store, 1_000_000 + number, 8)));
        let new =
            (9 * CAPACITY..10 * CAPACITY).filter(|&number| store.take(at(1), &id(1_000_000 + number)).is_some()).count();
        assert!(new >= CAPACITY as usize / 2, "{new}");
    }

    #[test]
    fn what_has_expired_is_absent_and_makes_room() {
        let store = store(100, 50_000);
        put(&store, 1, 10);
        put(&store, 2, 10);
        assert!(store.get(at(3599), &id(1)).is_some());
        assert!(store.get(at(3600), &id(1)).is_none());
        assert!(store.take(at(3600), &id(2)).is_none());
        assert!(store.is_empty());
        // As many others as there are free what nobody asks for any more.
        (0..5).for_each(|number| assert!(put(&store, number, 10)));
        (10..16).for_each(|number| assert!(store.put(at(4000), &id(number), &[1], HOUR)));
        assert_eq!(store.len(), 6);
    }

    #[test]
    fn a_store_of_no_entries_is_off() {
        let store = store(0, 1 << 20);
        assert!(!put(&store, 1, 10));
        assert!(store.take(at(0), &id(1)).is_none());
    }

    #[test]
    fn entries_spread_over_shards_and_stay_bounded() {
        let store = store(64 * 64, 1 << 30);
        (0..10_000).for_each(|number| assert!(put(&store, number, 8)));
        assert!((3_900..=4_096).contains(&store.len()), "{}", store.len());
    }

    #[test]
    fn of_concurrent_takers_one_gets_each_entry() {
        let store = store(4096, 1 << 30);
        (0..4000).for_each(|number| assert!(put(&store, number, 8)));
        let there = store.len();
        let taken = std::thread::scope(|scope| {
            let taker = || (0..4000).filter(|&number| store.take(at(0), &id(number)).is_some()).count();
            let takers = [(); 4].map(|()| scope.spawn(taker));
            takers.map(|taker| taker.join().unwrap()).iter().sum::<usize>()
        });
        assert_eq!((taken, store.len()), (there, 0));
    }
}
