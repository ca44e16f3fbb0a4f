//! No byte string makes a parser panic, and what one accepts it gives back byte for byte. The fuzz targets `record` and
//! `handshake` assert the same of mutants of real ones (`workshop/fuzz`).

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
