use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lru::LruCache;
use rustls_pki_types::UnixTime;
use siphasher::sip::SipHasher13;
use zeroize::Zeroizing;

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
    hash: Seeded,
}

type Id = [u8; 32];

struct Shard {
    entries: LruCache<Key, Entry, Seeded>,
    bytes: usize,
    limits: StoreLimits,
}

struct Entry {
    state: Zeroizing<Box<[u8]>>,
    expires: UnixTime,
}

impl LocalStore {
    /// An empty store. `seed` comes from a source of randomness.
    pub fn new(limits: StoreLimits, seed: [u8; 16]) -> Self {
        let count = (limits.entries / LEAST_IN_SHARD).min(limits.bytes / LEAST_BYTES_IN_SHARD).clamp(1, MOST_SHARDS);
        let hash = Seeded(SipHasher13::new_with_key(&seed));
        let each = StoreLimits { entries: limits.entries / count, bytes: limits.bytes / count };
        // The tables hash again, with another seed: within a shard all hashes have something in common.
        let [first, ..] = seed;
        let mut inner = seed;
        inner[0] = !first;
        let inner = Seeded(SipHasher13::new_with_key(&inner));
        let shard = || Shard { entries: LruCache::unbounded_with_hasher(inner.clone()), bytes: 0, limits: each };
        Self { shards: std::iter::repeat_with(|| Mutex::new(shard())).take(count).collect(), hash }
    }

    /// Stores `state` under `id` for `lifetime`. Returns whether it did: a state above the bound of a shard is not stored.
    pub fn put(&self, now: UnixTime, id: &Id, state: Box<[u8]>, lifetime: Duration) -> bool {
        let entry = Entry { state: Zeroizing::new(state), expires: after(now, lifetime) };
        let mut shard = self.shard(id);
        let size = entry.size();
        if shard.limits.entries == 0 || size > shard.limits.bytes {
            return false;
        }
        for _ in 0..SWEEP {
            if shard.entries.peek_lru().is_some_and(|(_, oldest)| oldest.expires <= now) {
                shard.forget_oldest();
            }
        }
        let replaced = shard.entries.put(Key(*id), entry);
        shard.bytes = shard.bytes.saturating_add(size).saturating_sub(replaced.as_ref().map_or(0, Entry::size));
        while shard.entries.len() > shard.limits.entries || shard.bytes > shard.limits.bytes {
            shard.forget_oldest();
        }
        drop(shard);
        drop(replaced);
        true
    }

    /// A copy of what stands under `id`, as TLS 1.2 session IDs need it: they are used again and again.
    pub fn get(&self, now: UnixTime, id: &Id) -> Option<Zeroizing<Vec<u8>>> {
        let mut shard = self.shard(id);
        let entry = shard.entries.get(&Key(*id))?;
        if entry.expires <= now {
            shard.remove(id);
            return None;
        }
        Some(Zeroizing::new(entry.state.to_vec()))
    }

    /// Takes what stands under `id`: of any number of takers, one gets it.
    pub fn take(&self, now: UnixTime, id: &Id) -> Option<Zeroizing<Vec<u8>>> {
        let mut entry = self.shard(id).remove(id)?;
        let state = Zeroizing::new(std::mem::take(&mut *entry.state).into_vec());
        (entry.expires > now).then_some(state)
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

    fn shard(&self, id: &Id) -> MutexGuard<'_, Shard> {
        let hash = self.hash.hash_one(Key(*id)) as usize;
        // There is always one: see `new`.
        let index = hash % self.shards.len().max(1);
        lock(&self.shards[index])
    }
}

impl Shard {
    fn remove(&mut self, id: &Id) -> Option<Entry> {
        let entry = self.entries.pop(&Key(*id))?;
        self.bytes = self.bytes.saturating_sub(entry.size());
        Some(entry)
    }

    fn forget_oldest(&mut self) {
        if let Some((_, entry)) = self.entries.pop_lru() {
            self.bytes = self.bytes.saturating_sub(entry.size());
        }
    }
}

impl Entry {
    fn size(&self) -> usize {
        self.state.len().saturating_add(size_of::<Id>())
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

#[derive(PartialEq, Eq)]
struct Key(Id);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Without the length, which is always the same.
        state.write(&self.0);
    }
}

#[derive(Clone)]
struct Seeded(SipHasher13);

impl BuildHasher for Seeded {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        self.0
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
