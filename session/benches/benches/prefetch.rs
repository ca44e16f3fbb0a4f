//! How long a ClientHello waits for a store on loopback: p50 and p99, of one lookup and of five, by one client and by many.
//! `cargo bench -p reprise-session-benches --features valkey --bench prefetch`

#![allow(clippy::print_stdout)]

use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use reprise_session::store::{Answer, Lookup, SharedStore, StoreKey, wait};
use reprise_session::{KeyEncryptionKeys, Random, Rotation, SystemRandom};
use reprise_session_tests::store::{Store, program};
use reprise_session_valkey::{Topology, Valkey, ValkeyConfig};

const FETCHES: usize = 5_000;

fn main() -> anyhow::Result<()> {
    let Some(program) = program() else {
        println!("NOT RUN: needs valkey-server or redis-server");
        return Ok(());
    };
    let server = Store::start(&[]);
    let mut secret = [0; 32];
    SystemRandom.fill(&mut secret)?;
    let rotation = Rotation::new(Duration::from_secs(3600))?;
    let keys = KeyEncryptionKeys::new([&secret[..]])?;
    let config = ValkeyConfig::new(Topology::Single(server.url()), rotation, keys).budget(Duration::from_secs(1));
    let (store, _ring) = Valkey::start(config)?;
    println!("{program} on loopback, {FETCHES} fetches each; microseconds");
    for (threads, lookups) in [(1, 1), (1, 5), (16, 1)] {
        let mut waits = Vec::new();
        thread::scope(|scope| -> anyhow::Result<()> {
            let workers: Vec<_> = (0..threads)
                .map(|worker| {
                    scope.spawn({
                        let store = &store;
                        move || measure(store, worker, lookups)
                    })
                })
                .collect();
            for worker in workers {
                match worker.join() {
                    Ok(measured) => waits.extend(measured?),
                    Err(_) => bail!("a thread failed"),
                }
            }
            Ok(())
        })?;
        waits.sort_unstable();
        let at = |part: usize| waits.get(waits.len() * part / 100).copied().unwrap_or_default().as_micros();
        println!("{threads:>2} waiting, {lookups} lookups: p50 {:>5}, p99 {:>5}", at(50), at(99));
    }
    Ok(())
}

fn measure(store: &Valkey, worker: u8, lookups: u8) -> anyhow::Result<Vec<Duration>> {
    let keys: Vec<StoreKey> = (0..lookups).map(|number| StoreKey::of(&[worker, number])).collect();
    for key in &keys {
        while store.put(*key, vec![7; 200], Duration::from_secs(3600)).is_none() {}
    }
    thread::sleep(Duration::from_millis(200));
    let mut waits = Vec::with_capacity(FETCHES);
    for _ in 0..FETCHES {
        let begun = Instant::now();
        let answers = wait(store.fetch(keys.iter().copied().map(Lookup::Get).collect()));
        waits.push(begun.elapsed());
        if !answers.answers.iter().all(|(_, answer)| matches!(answer, Answer::Found(_))) {
            bail!("the store did not find what was put");
        }
    }
    Ok(waits)
}
