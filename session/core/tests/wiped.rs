//! Secrets are gone from memory once they are dropped, by what the kernel shows of this process. Rule 11.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use reprise_session::store::{LocalStore, StoreLimits};
use reprise_session::{KeyEncryptionKeys, KeyRing, Random, Rotation, SystemRandom};
use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

const MINUTE: Duration = Duration::from_secs(60);

fn at(second: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(second))
}

/// A secret, kept inverted: what is looked for must not be found here.
struct Secret(Vec<u8>);

impl Secret {
    fn new() -> Self {
        let mut bytes = vec![0; 48];
        SystemRandom.fill(&mut bytes).unwrap();
        Self(bytes)
    }

    fn of(bytes: &[u8]) -> Self {
        Self(bytes.iter().map(|byte| !byte).collect())
    }

    fn state(&self) -> Box<[u8]> {
        self.0.iter().map(|byte| !byte).collect()
    }

    /// How often its second half stands in this process's memory: an allocator writes over the beginning of what it gets back.
    fn copies(&self) -> usize {
        let wanted = &self.0[self.0.len() / 2..];
        let memory = File::open("/proc/self/mem").unwrap();
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let mut buffer = vec![0; 1 << 20];
        let mut copies = 0;
        for line in maps.lines().filter(|line| line.contains(" rw") && !line.contains(".so")) {
            let (range, _) = line.split_once(' ').unwrap();
            let (start, end) = range.split_once('-').unwrap();
            let [mut start, end] = [start, end].map(|text| u64::from_str_radix(text, 16).unwrap());
            // The next begins a little before the end of the last.
            while start < end {
                let length = buffer.len().min((end - start) as usize);
                let Ok(count) = memory.read_at(&mut buffer[..length], start) else { break };
                // The first byte alone, since this is millions of windows.
                let is_here = |window: &[u8]| {
                    window[0] == !wanted[0] && window.iter().zip(wanted).all(|(byte, inverted)| *byte == !*inverted)
                };
                copies += buffer[..count].windows(wanted.len()).filter(|window| is_here(window)).count();
                buffer.fill(0);
                start += if count == length && count > wanted.len() { (count - wanted.len()) as u64 } else { count as u64 };
                if count < length || start + wanted.len() as u64 >= end {
                    break;
                }
            }
        }
        copies
    }
}

#[test]
fn a_ticket_key_is_gone_with_its_ring() {
    let rotation = Rotation::new(MINUTE).unwrap();
    let ring = KeyRing::generate(&rotation, at(1000), &SystemRandom).unwrap();
    let secret = Secret::of(ring.keys().next().unwrap().material());
    let mut sealing = [0; 32];
    SystemRandom.fill(&mut sealing).unwrap();
    let keys = KeyEncryptionKeys::new([&sealing[..]]).unwrap();
    let opened = KeyRing::open(&keys, &ring.seal(&keys, &SystemRandom).unwrap()).unwrap();
    assert!(secret.copies() >= 2);
    // The next ring of a fleet that was away for a while does not have it.
    let next = ring.rotated(&rotation, at(5000), &SystemRandom).unwrap().unwrap();
    drop((ring, opened));
    assert_eq!(secret.copies(), 0);
    drop(next);
}

#[test]
fn a_session_is_gone_once_taken_expired_or_forgotten() {
    let store = LocalStore::new(StoreLimits::new(2, 1 << 16), [7; 16]);
    let secret = Secret::new();
    let put = |number: u8| store.put(at(0), &[number; 32], &Zeroizing::new(secret.state()), MINUTE);
    put(1);
    assert!(secret.copies() > 0);
    drop(store.take(at(1), &[1; 32]));
    assert_eq!(secret.copies(), 0, "taken");

    put(2);
    assert!(store.get(at(60), &[2; 32]).is_none());
    assert_eq!(secret.copies(), 0, "expired, and asked for");

    put(3);
    store.put(at(60), &[4; 32], &[0; 48], MINUTE);
    assert_eq!(secret.copies(), 0, "expired, and swept by the next");

    put(5);
    for number in 6..8 {
        store.put(at(0), &[number; 32], &[0; 48], MINUTE);
    }
    assert_eq!(secret.copies(), 0, "forgotten for others");

    put(9);
    drop(store);
    assert_eq!(secret.copies(), 0, "with the store");
}
