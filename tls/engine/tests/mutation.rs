//! A live server's flight, mutated at random. What else holds of any bytes of a server, the fuzz targets `client` and
//! `stream` assert (`workshop/fuzz`).

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reprise_scripted::play::Edit;
use reprise_wire::ContentType;

use crate::script::NOW;
use crate::tls13_greeted;

fn mutation() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => (any::<u16>(), 1_u8..).prop_map(|(at, mask)| Edit::Flip(at, mask)),
        4 => any::<(u16, u8)>().prop_map(|(at, value)| Edit::Set(at, value)),
        1 => (any::<u16>(), vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        1 => (any::<u16>(), 1_u8..).prop_map(|(at, count)| Edit::Remove(at, count)),
        1 => (any::<u16>(), 1_u8..).prop_map(|(at, count)| Edit::Double(at, count)),
        1 => any::<u16>().prop_map(Edit::Truncate),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(8446),
        ..ProptestConfig::default()
    })]

    /// Under live keys, so that the client reads what was mutated.
    #[test]
    fn a_finished_covers_every_byte_before_it(mutations in vec(mutation(), 1..4), fragment in 1_usize..600) {
        let (mut client, mut server) = tls13_greeted();
        let honest = server.flight().concat();
        let mut flight = honest.clone();
        mutations.iter().for_each(|mutation| mutation.apply(&mut flight));
        let records: Vec<u8> = flight.chunks(fragment).flat_map(|part| server.record(ContentType::HANDSHAKE, part)).collect();
        let _ = client.receive(NOW, &records);
        prop_assert!(client.ready().is_none() || flight.starts_with(&honest));
    }
}
