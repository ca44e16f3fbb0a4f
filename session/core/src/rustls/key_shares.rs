//! Ephemeral key pairs that are made ahead of the handshakes that use them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, ProtocolVersion};

/// A group whose key pairs are made ahead: [`KeySharePool::fill`] makes them where nobody waits, a handshake takes one.
///
/// It stands in [`CryptoProvider::kx_groups`](rustls::crypto::CryptoProvider) in place of the group that it wraps, of a server or a
/// client, under TLS 1.2 and 1.3. Each pair is used once, so that forward secrecy is that of fresh pairs; a pool that is empty makes one
/// as the group itself does. The work does not vanish: it moves to whoever fills, most often a thread of its own
/// ([`keep_full`](KeySharePool::keep_full)).
///
/// A private key is in memory from [`fill`](KeySharePool::fill) until its handshake is complete: whoever reads the process's memory reads the
/// connections of that time. Keep the pool as small as the load between two fills. Pairs end with the type of the provider
/// that made them: aws-lc-rs wipes private keys when it frees them, ring does not. After `fork`, call [`clear`](KeySharePool::clear) in the child: both
/// processes have the same pairs.
///
/// A server does not use pairs for a key encapsulation (ML-KEM and hybrids), where its share depends on the client's: these groups work
/// as they do without a pool.
///
/// ```
/// use reprise_session::rustls::KeySharePool;
/// use rustls::crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // rustls takes groups that live as long as the program: this leaks one, once; or use a `LazyLock` in a static.
/// let pool: &'static KeySharePool = Box::leak(Box::new(KeySharePool::new(aws_lc_rs::kx_group::X25519, 64)));
/// let provider = CryptoProvider { kx_groups: vec![pool], ..aws_lc_rs::default_provider() };
/// # drop(provider);
///
/// // Where nobody waits: after a connection was accepted, or by `pool.keep_full()` in a thread of its own.
/// assert_eq!(pool.fill(16)?, 16);
/// // What a handshake does.
/// let pair = pool.start()?;
/// assert_eq!(pair.pub_key().len(), 32);
/// assert_eq!((pool.statistics().ready, pool.statistics().taken), (15, 1));
/// # Ok(())
/// # }
/// ```
pub struct KeySharePool {
    group: &'static dyn SupportedKxGroup,
    capacity: usize,
    ready: Mutex<VecDeque<Box<dyn ActiveKeyExchange>>>,
    half_empty: Condvar,
    made: AtomicU64,
    taken: AtomicU64,
    missed: AtomicU64,
}

/// What a pool has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyShareStatistics {
    /// Pairs that are there now.
    pub ready: usize,
    /// Pairs that were made ahead.
    pub made: u64,
    /// Of them, those that a handshake took.
    pub taken: u64,
    /// Handshakes that found the pool empty: their pair was made while they waited.
    pub missed: u64,
}

impl KeySharePool {
    /// An empty pool of at most so many pairs of this group.
    pub fn new(group: &'static dyn SupportedKxGroup, capacity: usize) -> Self {
        Self {
            group,
            capacity,
            ready: Mutex::default(),
            half_empty: Condvar::new(),
            made: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            missed: AtomicU64::new(0),
        }
    }

    /// Makes pairs, at most so many, until the pool is full: how many. Handshakes take pairs meanwhile.
    ///
    /// # Errors
    /// As the group's own; pairs that were made before stay.
    pub fn fill(&self, most: usize) -> Result<usize, Error> {
        let mut made = 0;
        while made < most && self.ready().len() < self.capacity {
            let pair = self.group.start()?;
            let mut ready = self.ready();
            // Another thread may have filled it meanwhile.
            if ready.len() >= self.capacity {
                break;
            }
            ready.push_back(pair);
            made += 1;
            self.made.fetch_add(1, Ordering::Relaxed);
        }
        Ok(made)
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns once less than half of the pairs are left, or once it is woken because `ends` is set.
    pub(super) fn wait_until_half_empty(&self, ends: &AtomicBool) {
        let is_enough = |ready: &mut VecDeque<_>| !ends.load(Ordering::Acquire) && !self.is_half_empty(ready.len());
        drop(self.half_empty.wait_while(self.ready(), is_enough).unwrap_or_else(PoisonError::into_inner));
    }

    /// Whoever waits looks again. The lock is held: nobody is between looking and waiting.
    pub(super) fn wake(&self) {
        let _ready = self.ready();
        self.half_empty.notify_all();
    }

    fn is_half_empty(&self, ready: usize) -> bool {
        ready < self.capacity.div_ceil(2)
    }

    /// Ends every pair that is there.
    pub fn clear(&self) {
        self.ready().clear();
        self.half_empty.notify_one();
    }

    /// What it has done so far.
    pub fn statistics(&self) -> KeyShareStatistics {
        KeyShareStatistics {
            ready: self.ready().len(),
            made: self.made.load(Ordering::Relaxed),
            taken: self.taken.load(Ordering::Relaxed),
            missed: self.missed.load(Ordering::Relaxed),
        }
    }

    fn ready(&self) -> MutexGuard<'_, VecDeque<Box<dyn ActiveKeyExchange>>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The oldest pair, which nobody else gets.
    fn take(&self) -> Option<Box<dyn ActiveKeyExchange>> {
        let mut ready = self.ready();
        let taken = ready.pop_front();
        if self.is_half_empty(ready.len()) {
            self.half_empty.notify_one();
        }
        drop(ready);
        let counter = if taken.is_some() { &self.taken } else { &self.missed };
        counter.fetch_add(1, Ordering::Relaxed);
        taken
    }
}

impl SupportedKxGroup for KeySharePool {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        self.take().map_or_else(|| self.group.start(), Ok)
    }

    fn start_and_complete(&self, peer_pub_key: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let of_pool = if is_diffie_hellman(self.group.name()) { self.take() } else { None };
        let Some(pair) = of_pool else { return self.group.start_and_complete(peer_pub_key) };
        let (group, pub_key) = (pair.group(), pair.pub_key().to_vec());
        Ok(CompletedKeyExchange { group, pub_key, secret: pair.complete(peer_pub_key)? })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        self.group.ffdhe_group()
    }

    fn name(&self) -> NamedGroup {
        self.group.name()
    }

    fn fips(&self) -> bool {
        self.group.fips()
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        self.group.usable_for_version(version)
    }
}

/// Whether a server's share does not depend on the client's.
fn is_diffie_hellman(group: NamedGroup) -> bool {
    use NamedGroup::{X448, X25519, secp256r1, secp384r1, secp521r1};
    let is_curve = matches!(group, X25519 | X448 | secp256r1 | secp384r1 | secp521r1);
    is_curve || group.key_exchange_algorithm() == rustls::crypto::KeyExchangeAlgorithm::DHE
}

impl fmt::Debug for KeySharePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySharePool").field("group", &self.name()).field("statistics", &self.statistics()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rustls::crypto::aws_lc_rs::kx_group::{SECP256R1, X25519, X25519MLKEM768};

    use super::*;

    #[test]
    fn it_is_bounded_and_counts() {
        let pool = KeySharePool::new(X25519, 4);
        assert_eq!(pool.fill(3).unwrap(), 3);
        assert_eq!(pool.fill(3).unwrap(), 1, "it is full");
        assert_eq!(pool.fill(3).unwrap(), 0);
        for _ in 0..5 {
            pool.start().unwrap();
        }
        let counted = KeyShareStatistics { ready: 0, made: 4, taken: 4, missed: 1 };
        assert_eq!(pool.statistics(), counted, "the fifth is fresh");
        pool.fill(2).unwrap();
        pool.clear();
        assert_eq!(pool.statistics().ready, 0);
    }

    #[test]
    fn each_pair_is_used_once_whoever_takes_it() {
        let pool = KeySharePool::new(SECP256R1, 32);
        pool.fill(32).unwrap();
        let peer = X25519.start().unwrap();
        assert!(pool.start_and_complete(peer.pub_key()).is_err(), "a share of another group");
        assert_eq!(pool.statistics().ready, 31, "and its pair is not used again");
        let take = || (0..20).map(|_| pool.start().unwrap().pub_key().to_vec()).collect::<Vec<_>>();
        let taken: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(take));
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), 40);
        assert_eq!((pool.statistics().taken, pool.statistics().missed), (32, 9));
    }

    #[test]
    fn both_sides_come_to_one_secret() {
        let pool = KeySharePool::new(SECP256R1, 2);
        pool.fill(2).unwrap();
        let client = pool.start().unwrap();
        let server = pool.start_and_complete(client.pub_key()).unwrap();
        let secret = client.complete(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
    }

    #[test]
    fn a_server_encapsulates_and_takes_no_pair() {
        let pool = KeySharePool::new(X25519MLKEM768, 2);
        pool.fill(2).unwrap();
        let client = pool.start().unwrap();
        let server = pool.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(client.complete(&server.pub_key).unwrap().secret_bytes(), server.secret.secret_bytes());
        assert_eq!((pool.statistics().ready, pool.statistics().missed), (1, 0));
    }
}
