//! What the session library takes from clients and from a store: a ClientHello in any fragments, tickets, and sealed rings.

use std::time::Duration;

use reprise_session::ticket::{Limits, SealPurpose, Times, open, seal};
use reprise_session::{
    KeyEncryptionKeys, KeyName, KeyRing, LookAhead, MAX_IDENTITIES, Policy, PolicyBuilder, Rotation, SystemRandom, TicketKey,
};
use rustls_pki_types::UnixTime;

use crate::seeds::records;

const NOW: u64 = 1_000_000;
const LIMIT: usize = 1 << 12;

pub(crate) fn run(bytes: &[u8]) {
    look_ahead(bytes);
    let (ring, keys, policy) = (ring(), keys(), PolicyBuilder::new().build());
    assert!(opened(&ring, &policy, bytes).is_none(), "nobody has sealed this");
    let sealed = seal(&ring, &policy, SealPurpose::Ticket, times(), bytes, &SystemRandom).unwrap();
    assert_eq!(opened(&ring, &policy, &sealed).as_deref(), Some(bytes));
    // A seed is a ring that is whole: by the key that sealed it, it opens.
    drop(KeyRing::open(&keys, bytes));
    assert!(KeyRing::open(&strangers(), bytes).is_err(), "its key has sealed nothing");
    assert!(KeyRing::open(&keys, &[b"reprise2", bytes].concat()).is_err(), "nobody has sealed this");
}

pub(crate) fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds: Vec<_> = records().into_iter().filter(|(name, _)| name.ends_with("-client")).collect();
    seeds.push(("ring".to_owned(), ring().seal(&keys(), &SystemRandom).unwrap()));
    seeds
}

/// Whether in one piece or in small ones, it is the same hello, and all of it is there for the TLS library.
fn look_ahead(bytes: &[u8]) {
    let piece = usize::from(bytes.first().copied().unwrap_or(0) % 64).max(1);
    let mut ahead = LookAhead::new(LIMIT);
    let mut given = 0;
    let mut found = None;
    for piece in bytes.chunks(piece) {
        given += piece.len();
        match ahead.receive(piece) {
            Ok(None) => {}
            Ok(Some(offered)) => {
                assert!(offered.lookups(false).len() <= MAX_IDENTITIES);
                found = Some(offered);
                break;
            }
            Err(_) => return,
        }
    }
    assert_eq!(ahead.into_received(), bytes[..given]);
    if let (Some(found), Ok(Some(whole))) = (found, LookAhead::new(LIMIT).receive(bytes)) {
        assert_eq!(found, whole);
    }
}

fn opened(ring: &KeyRing, policy: &Policy, sealed: &[u8]) -> Option<Vec<u8>> {
    let limits = Limits::new().lifetime(Duration::from_secs(100)).chain(Duration::from_secs(100));
    open(ring, policy, SealPurpose::Ticket, &limits, at(NOW), sealed).ok().map(|opened| opened.state.to_vec())
}

fn at(second: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(second))
}

fn times() -> Times {
    Times { first_authentication: at(NOW), issued: at(NOW) }
}

/// The same in every run, so that an input means the same.
fn ring() -> KeyRing {
    let times = Rotation::new(Duration::from_secs(100)).unwrap().times(at(NOW));
    KeyRing::new([TicketKey::new(KeyName([7; 16]), &counted::<64>(), times).unwrap()]).unwrap()
}

fn keys() -> KeyEncryptionKeys {
    KeyEncryptionKeys::new([&counted::<32>()[..]]).unwrap()
}

fn strangers() -> KeyEncryptionKeys {
    KeyEncryptionKeys::new([&counted::<32>().map(|byte| 200 - byte)[..]]).unwrap()
}

fn counted<const N: usize>() -> [u8; N] {
    std::array::from_fn(|index| index as u8)
}
