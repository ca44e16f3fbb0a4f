use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lru::LruCache;
use rustls_pki_types::UnixTime;
use siphasher::sip::SipHasher13;
use zeroize::optimization_barrier;

use crate::rotation::after;

const MOST_SHARDS: usize = 64;
/// Fewer entries than this a shard, and a shard would be full while others are empty.
const LEAST_IN_SHARD: usize = 64;
const LEAST_BYTES_IN_SHARD: usize = 1 << 16;
/// How many entries beside its own a `put` frees that have expired: more than it adds, so that none wait for the bound.
const SWEEP: usize = 2;

/// What a [`LocalStore`] may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLimits {
    /// Entries; zero switches the store off.
    pub entries: usize,
    /// Bytes of all states and their keys: what the store takes beside them is some 100 bytes an entry.
    pub bytes: usize,
}

/// Sessions in the memory of this process, bounded by entries and by bytes; of more, the least recently used are forgotten.
///
/// IDs are an attacker's choice, so the hash that spreads them over shards and tables has a secret seed. States are zeroed
/// when they go.
pub struct LocalStore {
    shards: Box<[Mutex<Shard>]>,
    hash: SipHasher13,
}

/// A session's state, which is zeroed when it goes: whole, since byte by byte, as `zeroize` does it, takes longer than looking it up.
pub struct StoredState(Box<[u8]>);

type Id = [u8; 32];

struct Shard {
    entries: LruCache<Key, StoredState, BuildHasherDefault<AsHashed>>,
    bytes: usize,
    limits: StoreLimits,
}

impl LocalStore {
    /// An empty store. `seed` comes from a source of randomness.
    pub fn new(limits: StoreLimits, seed: [u8; 16]) -> Self {
        let count = (limits.entries / LEAST_IN_SHARD).min(limits.bytes / LEAST_BYTES_IN_SHARD).clamp(1, MOST_SHARDS);
        let each = StoreLimits { entries: limits.entries / count, bytes: limits.bytes / count };
        let entries = || LruCache::unbounded_with_hasher(BuildHasherDefault::default());
        let shard = || Mutex::new(Shard { entries: entries(), bytes: 0, limits: each });
        let shards = std::iter::repeat_with(shard).take(count).collect();
        Self { shards, hash: SipHasher13::new_with_key(&seed) }
    }

    /// Stores `state` under `id` for `lifetime`. Returns whether it did: a state above the bound of a shard is not stored.
    pub fn put(&self, now: UnixTime, id: &Id, state: Box<[u8]>, lifetime: Duration) -> bool {
        let state = StoredState(state);
        let (key, mut shard) = self.find(id);
        let size = state.size();
        if shard.limits.entries == 0 || size > shard.limits.bytes {
            return false;
        }
        for _ in 0..SWEEP {
            if shard.entries.peek_lru().is_some_and(|(oldest, _)| oldest.is_expired(now)) {
                shard.forget_oldest();
            }
        }
        let replaced = shard.remove(&key);
        shard.entries.put(key.until(after(now, lifetime)), state);
        shard.bytes = shard.bytes.saturating_add(size);
        while shard.entries.len() > shard.limits.entries || shard.bytes > shard.limits.bytes {
            shard.forget_oldest();
        }
        drop(shard);
        drop(replaced);
        true
    }

    /// A copy of what stands under `id`, as TLS 1.2 session IDs need it: they are used again and again.
    pub fn get(&self, now: UnixTime, id: &Id) -> Option<StoredState> {
        let (key, mut shard) = self.find(id);
        let (found, state) = shard.entries.get_key_value(&key)?;
        if found.is_expired(now) {
            shard.remove(&key);
            return None;
        }
        Some(StoredState(state.0.clone()))
    }

    /// Takes what stands under `id`: of any number of takers, one gets it.
    pub fn take(&self, now: UnixTime, id: &Id) -> Option<StoredState> {
        let (key, mut shard) = self.find(id);
        let (found, state) = shard.remove(&key)?;
        drop(shard);
        (!found.is_expired(now)).then_some(state)
    }

    /// How many entries there are, expired ones included.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).entries.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all states and keys.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).bytes).sum()
    }

    /// The shard in which `id` would stand, locked, and the key to find it by there.
    fn find(&self, id: &Id) -> (Key, MutexGuard<'_, Shard>) {
        let hash = self.hash.hash(id);
        // Half of the hash for the shard, and half for its table. There is always a shard: see `new`.
        let index = (hash >> 32) as usize % self.shards.len().max(1);
        (Key { id: *id, hash: hash as u32, expires: 0 }, lock(&self.shards[index]))
    }
}

impl Shard {
    fn remove(&mut self, key: &Key) -> Option<(Key, StoredState)> {
        let removed = self.entries.pop_entry(key)?;
        self.bytes = self.bytes.saturating_sub(removed.1.size());
        Some(removed)
    }

    fn forget_oldest(&mut self) {
        if let Some((_, state)) = self.entries.pop_lru() {
            self.bytes = self.bytes.saturating_sub(state.size());
        }
    }
}

impl StoredState {
    /// With its key.
    fn size(&self) -> usize {
        self.0.len().saturating_add(size_of::<Id>())
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

impl Deref for StoredState {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for StoredState {
    fn drop(&mut self) {
        self.0.fill(0);
        // Or else the compiler sees that nobody reads the zeros.
        optimization_barrier(&*self.0);
    }
}

impl fmt::Debug for StoredState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoredState")
    }
}

/// An ID, with its hash, which is needed several times and computed once, and with the time: beside the state it would cost an
/// entry 8 bytes more.
struct Key {
    id: Id,
    hash: u32,
    /// Seconds since 1970, up to the year 2106.
    expires: u32,
}

impl Key {
    fn until(self, time: UnixTime) -> Self {
        Self { expires: u32::try_from(time.as_secs()).unwrap_or(u32::MAX), ..self }
    }

    fn is_expired(&self, now: UnixTime) -> bool {
        u64::from(self.expires) <= now.as_secs()
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // A table finds a place by the lowest bits, and tells neighbours apart by the topmost seven.
        let hash = u64::from(self.hash);
        state.write_u64(hash << 32 | hash);
    }
}

/// Hands on what was hashed before.
#[derive(Default)]
struct AsHashed(u64);

impl Hasher for AsHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    /// A [`Key`] has no other bytes.
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn at(second: u64) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_secs(second))
    }

    fn id(number: u32) -> Id {
        let mut id = [7; 32];
        id[..4].copy_from_slice(&number.to_be_bytes());
        id
    }

    fn store(entries: usize, bytes: usize) -> LocalStore {
        LocalStore::new(StoreLimits { entries, bytes }, [3; 16])
    }

    fn put(store: &LocalStore, number: u32, length: usize) -> bool {
        store.put(at(0), &id(number), vec![1; length].into(), HOUR)
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
            put(&store, number, 400);
            assert!(store.bytes() <= 1000, "{number}: {}", store.bytes());
        }
        assert_eq!(store.len(), 2);
        // What is replaced does not count twice.
        put(&store, 99, 300);
        put(&store, 99, 300);
        assert_eq!(store.bytes(), 332 + 432);
    }

    #[test]
    fn what_has_expired_is_absent_and_makes_room() {
        let store = store(10, 10_000);
        put(&store, 1, 10);
        put(&store, 2, 10);
        assert!(store.get(at(3599), &id(1)).is_some());
        assert!(store.get(at(3600), &id(1)).is_none());
        assert!(store.take(at(3600), &id(2)).is_none());
        assert!(store.is_empty());
        (0..5).for_each(|number| assert!(put(&store, number, 10)));
        store.put(at(4000), &id(9), vec![1].into(), HOUR);
        assert_eq!(store.len(), 4);
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
