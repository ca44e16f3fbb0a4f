//! Whatever a client, a file or a store sends is refused or taken, and nothing panics.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use proptest::prelude::*;
use reprise_session::key_file::{Format, KeyFiles};
use reprise_session::ticket::{Limits, SealPurpose, Times, open, seal};
use reprise_session::{KeyEncryptionKeys, KeyRing, LookAhead, PolicyBuilder, Rotation, SystemRandom};
use rustls_pki_types::UnixTime;

const LIMITS: Limits = Limits::new().lifetime(Duration::from_secs(100)).chain(Duration::from_secs(200));

fn ring() -> KeyRing {
    KeyRing::generate(&Rotation::new(Duration::from_secs(100)).unwrap(), UnixTime::now(), &SystemRandom).unwrap()
}

proptest! {
    #[test]
    fn any_bytes_as_a_ticket(start in 0usize..=16, bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let ring = ring();
        // The name of a key that there is, or a part of it.
        let name = ring.keys().next().unwrap().name();
        let ticket = [&name.0[..start], &bytes].concat();
        let policy = PolicyBuilder::new().build();
        prop_assert!(open(&ring, &policy, SealPurpose::Ticket, &LIMITS, UnixTime::now(), &ticket).is_err());
    }

    #[test]
    fn any_times_and_any_clock(first in any::<u64>(), issued in any::<u64>(), now in any::<u64>()) {
        let at = |second| UnixTime::since_unix_epoch(Duration::from_secs(second));
        let _ = Times { first_authentication: at(first), issued: at(issued) }.check(&LIMITS, at(now));
        let ring = ring();
        let _ = ring.rotated(&Rotation::new(Duration::from_secs(100)).unwrap(), at(now), &SystemRandom);
        let policy = PolicyBuilder::new().build();
        let times = Times { first_authentication: at(first), issued: at(issued) };
        let _ = seal(&ring, &policy, SealPurpose::Ticket, times, b"state", &SystemRandom);
    }

    #[test]
    fn any_bytes_as_a_sealed_ring(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut key = [7; 32];
        key[0] = 1;
        key[16] = 2;
        let keys = KeyEncryptionKeys::new([&key[..]]).unwrap();
        prop_assert!(KeyRing::open(&keys, &[b"reprise1", &bytes[..]].concat()).is_err());
    }

    #[test]
    fn any_bytes_as_a_key_file(format in 0usize..3, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let format = [Format::Nginx, Format::Haproxy, Format::Apache][format];
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let read = KeyFiles::new(format, [file.path()]).read();
        // Nothing but a whole key is one.
        prop_assert!(read.is_err() || [48, 80].contains(&bytes.len()));
    }

    #[test]
    fn any_bytes_as_a_hello(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..12), limit in 0usize..500) {
        let mut ahead = LookAhead::new(limit);
        // A client hello begins so.
        let mut received = vec![22, 3, 1];
        let _ = ahead.receive(&[22, 3, 1]);
        for chunk in &chunks {
            received.extend_from_slice(chunk);
            if !matches!(ahead.receive(chunk), Ok(None)) {
                break;
            }
        }
        prop_assert!(received.starts_with(&ahead.into_received()));
    }
}
