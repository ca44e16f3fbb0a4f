//! No byte string makes a parser panic, and what one accepts it gives back byte for byte.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test stops where it fails")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use reprise_harness::reemit;
use reprise_wire::*;

proptest! {
    #![proptest_config(Config {
        cases: 4096,
        rng_seed: RngSeed::Fixed(8446),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn messages(bytes in vec(any::<u8>(), 0..200)) {
        reemit::holds_for(reemit::MESSAGES, &bytes);
    }

    #[test]
    fn extensions(bytes in vec(any::<u8>(), 0..100)) {
        reemit::holds_for(reemit::EXTENSIONS, &bytes);
    }

    /// Small numbers make lengths that fit, so that the parsers come further than the first field.
    #[test]
    fn messages_of_small_numbers(bytes in vec(0_u8..6, 0..80)) {
        reemit::holds_for(reemit::MESSAGES, &bytes);
        reemit::holds_for(reemit::EXTENSIONS, &bytes);
    }

    #[test]
    fn extension_lists(bytes in extension_list()) {
        if let Ok(extensions) = Extensions::parse(&bytes) {
            prop_assert_eq!(extensions.as_bytes(), &bytes);
            let mut types: Vec<_> = extensions.iter().map(|(extension, _)| extension).collect();
            types.sort();
            let before = types.len();
            types.dedup();
            prop_assert_eq!(types.len(), before);
        }
    }

    #[test]
    fn records(bytes in record_like()) {
        match Record::parse(&bytes) {
            Ok(Some((record, consumed))) => {
                let mut emitted = Vec::new();
                record.emit(&mut emitted);
                prop_assert_eq!(&emitted, &bytes[..consumed]);
            }
            // More bytes are needed, and would bring a decision.
            Ok(None) => {
                let longer = [&bytes[..], &[0; HEADER_LEN + MAX_CIPHERTEXT_TLS12]].concat();
                prop_assert_ne!(Record::parse(&longer), Ok(None));
            }
            Err(_) => {}
        }
    }

    #[test]
    fn handshake_frames(bytes in vec(0_u8..20, 0..60)) {
        if let Ok(Some((message, consumed))) = Handshake::parse(&bytes) {
            prop_assert_eq!(message.raw, &bytes[..consumed]);
            let mut emitted = Vec::new();
            frame(&mut emitted, message.msg_type, |out| out.extend_from_slice(message.body));
            prop_assert_eq!(&emitted, &bytes[..consumed]);
        }
    }
}

/// Well framed, types few enough to collide.
fn extension_list() -> impl Strategy<Value = Vec<u8>> {
    let types = prop_oneof![0_u16..80, Just(0xff01), Just(0x0a0a)];
    vec((types, vec(any::<u8>(), 0..5)), 0..30).prop_map(|entries| {
        let mut list = ExtensionsBuilder::new();
        for (extension, data) in entries {
            list.push(ExtensionType(extension), |out| out.extend_from_slice(&data));
        }
        list.finish()
    })
}

/// Often a record, sometimes cut short.
fn record_like() -> impl Strategy<Value = Vec<u8>> {
    (18_u8..27, 2_u8..5, any::<u8>(), 0_u16..20, vec(any::<u8>(), 0..20), any::<prop::sample::Index>()).prop_map(
        |(content_type, major, minor, length, fragment, end)| {
            let header = [content_type, major, minor];
            let mut bytes = [&header[..], &length.to_be_bytes(), &fragment].concat();
            bytes.truncate(end.index(bytes.len() + 1));
            bytes
        },
    )
}
