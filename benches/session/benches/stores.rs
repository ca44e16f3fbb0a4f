//! Take and put of 200-byte sessions in a store of a million: this library's, the one that rustls has, and, with
//! `--features peers`, two caches. Each round measures all, in turns, by each thread's processor time; medians. How often a
//! thread slept, as it does for a lock that another holds, is counted beside it. `-- --check` fails below the bounds.

#![allow(clippy::print_stdout)]

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use reprise_session::store::{LocalStore, StoreLimits};
use reprise_session_benches::Used;
use rustls::server::{ServerSessionMemoryCache, StoresServerSessions};
use rustls_pki_types::UnixTime;

const ENTRIES: usize = 1_000_000;
const OPERATIONS: usize = 400_000;
/// rustls' cache looks through a list of all its entries for one that is taken, so it gets fewer operations.
const OPERATIONS_OF_RUSTLS: usize = 40;
const ROUNDS: usize = 7;
/// Million operations a second on one thread, and how many times that on two.
const BOUNDS: (f64, f64) = (2.0, 1.5);
/// Sleeps in a thousand operations of two threads, above which processor time would not be the whole cost.
const MOST_SLEEPS: f64 = 1.0;

fn main() -> anyhow::Result<()> {
    // Sessions that a server holds in the end are those that it was given first.
    let stores: Vec<Box<dyn Store>> = vec![
        Box::new(Ours(LocalStore::new(StoreLimits::new(ENTRIES, 1 << 30), [9; 16]), UnixTime::now())),
        Box::new(Rustls(ServerSessionMemoryCache::new(ENTRIES))),
        #[cfg(feature = "peers")]
        Box::new(peers::Moka(moka::sync::Cache::new(ENTRIES as u64))),
        #[cfg(feature = "peers")]
        Box::new(peers::QuickCache(quick_cache::sync::Cache::new(ENTRIES))),
    ];
    for store in &stores {
        (0..ENTRIES).for_each(|number| store.put(id(number)));
    }
    let mut rates = vec![[Vec::new(), Vec::new()]; stores.len()];
    for round in 0..ROUNDS {
        for offset in 0..stores.len() {
            let index = (round + offset) % stores.len();
            for (threads, rates) in [1, 2].into_iter().zip(&mut rates[index]) {
                rates.push(rate(&*stores[index], threads, round)?);
            }
        }
    }
    println!("million take+put a second, {ENTRIES} entries of 200 bytes, medians of {ROUNDS} rounds");
    println!("{:24} {:>10} {:>11} {:>7} {:>20}", "", "one thread", "two threads", "ratio", "sleeps in a thousand");
    let mut ours = None;
    for (store, rates) in stores.iter().zip(rates) {
        let [(one, _), (two, sleeps)] = rates.map(|rounds| {
            let (rates, sleeps) = rounds.into_iter().unzip();
            (median(rates), median(sleeps))
        });
        println!("{:24} {one:>10.4} {two:>11.4} {:>7.2} {sleeps:>20.3}", store.name(), two / one);
        ours.get_or_insert((one, two / one, sleeps));
    }
    if std::env::args().any(|argument| argument == "--check") {
        let (one, ratio, sleeps) = ours.unwrap_or_default();
        ensure!(one >= BOUNDS.0 && ratio >= BOUNDS.1, "below {BOUNDS:?}");
        ensure!(sleeps <= MOST_SLEEPS, "threads wait for one another");
    }
    Ok(())
}

trait Store: Sync {
    fn name(&self) -> &'static str;
    fn put(&self, id: [u8; 32]);
    fn take(&self, id: [u8; 32]);
    /// How many a thread does in a round.
    fn operations(&self) -> usize {
        OPERATIONS
    }
}

/// Million operations a second of all threads, and their sleeps in a thousand: each takes one entry and puts it back.
fn rate(store: &dyn Store, threads: usize, round: usize) -> anyhow::Result<(f64, f64)> {
    let work = |thread: usize| -> io::Result<Used> {
        let begun = Used::so_far()?;
        for operation in 0..store.operations() {
            let number = (operation * 7919 + thread * 500_009 + round * 104_729) % ENTRIES;
            store.take(id(number));
            store.put(id(number));
        }
        Ok(Used::so_far()?.since(begun))
    };
    let (mut rate, mut sleeps) = (0.0, 0);
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        for worker in workers {
            let used = worker.join().ok().context("a thread failed")??;
            rate += store.operations() as f64 / used.cpu.as_secs_f64() / 1e6;
            sleeps += used.sleeps;
        }
        Ok(())
    })?;
    Ok((rate, sleeps as f64 * 1000.0 / (threads * store.operations()) as f64))
}

/// As random as a session ID, at the cost of a multiplication.
fn id(number: usize) -> [u8; 32] {
    let mut id = [0; 32];
    for (index, part) in id.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *part = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(13 * index as u32 + 7).to_le_bytes();
    }
    id
}

fn state() -> Vec<u8> {
    vec![7; 200]
}

struct Ours(LocalStore, UnixTime);

impl Store for Ours {
    fn name(&self) -> &'static str {
        "reprise-session"
    }
    fn put(&self, id: [u8; 32]) {
        self.0.put(self.1, &id, state().into(), Duration::from_secs(3600));
    }
    fn take(&self, id: [u8; 32]) {
        self.0.take(self.1, &id);
    }
}

struct Rustls(Arc<ServerSessionMemoryCache>);

impl Store for Rustls {
    fn name(&self) -> &'static str {
        "rustls' memory cache"
    }
    fn put(&self, id: [u8; 32]) {
        self.0.put(id.to_vec(), state());
    }
    fn operations(&self) -> usize {
        OPERATIONS_OF_RUSTLS
    }
    fn take(&self, id: [u8; 32]) {
        self.0.take(&id);
    }
}

#[cfg(feature = "peers")]
mod peers {
    use super::{Store, state};

    pub(super) struct Moka(pub(super) moka::sync::Cache<[u8; 32], Vec<u8>>);

    impl Store for Moka {
        fn name(&self) -> &'static str {
            "moka"
        }
        fn put(&self, id: [u8; 32]) {
            self.0.insert(id, state());
        }
        fn take(&self, id: [u8; 32]) {
            self.0.remove(&id);
        }
    }

    pub(super) struct QuickCache(pub(super) quick_cache::sync::Cache<[u8; 32], Vec<u8>>);

    impl Store for QuickCache {
        fn name(&self) -> &'static str {
            "quick_cache"
        }
        fn put(&self, id: [u8; 32]) {
            self.0.insert(id, state());
        }
        fn take(&self, id: [u8; 32]) {
            self.0.remove(&id);
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
