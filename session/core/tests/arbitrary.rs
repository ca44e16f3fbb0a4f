//! Any times and any key file are refused or accepted, and nothing panics. The fuzz target `session_library` does the same
//! with tickets, hellos and sealed rings (`workshop/fuzz`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use proptest::prelude::*;
use reprise_session::key_file::{KeyFileFormat, KeyFiles};
use reprise_session::ticket::{Limits, SealPurpose, Times, seal};
use reprise_session::{KeyRing, PolicyBuilder, Rotation, SystemRandom};
use rustls_pki_types::UnixTime;

const LIMITS: Limits = Limits::new().lifetime(Duration::from_secs(100)).chain(Duration::from_secs(200));

fn ring() -> KeyRing {
    KeyRing::generate(&Rotation::new(Duration::from_secs(100)).unwrap(), UnixTime::now(), &SystemRandom).unwrap()
}

proptest! {

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
    fn any_bytes_as_a_key_file(format in 0usize..4, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let format = [KeyFileFormat::Nginx, KeyFileFormat::Haproxy, KeyFileFormat::Apache, KeyFileFormat::Envoy][format];
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let read = KeyFiles::new(format, [file.path()]).read();
        // Nothing but a whole key is one.
        prop_assert!(read.is_err() || [48, 80].contains(&bytes.len()));
    }
}
