//! Recorded and live servers, mutated at random: the client never panics, ends in a typed error or not at all, and is
//! never ready for what was not said.

use std::sync::OnceLock;

use proptest::collection::vec;
use proptest::prelude::*;
use reprise_engine::{Connection, Error};
use reprise_model::Version;
use reprise_scripted::play::Edit;
use reprise_wire::ContentType;

use crate::script::tls13::Server;
use crate::script::{NOW, clear, tls12};
use crate::truncation::{tls12_recording, tls13_recording};
use crate::{begun, tls13_connected, tls13_greeted};

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

fn mutations() -> impl Strategy<Value = Vec<Edit>> {
    vec(mutation(), 1..4)
}

/// Feeds the client; what it says in the end must be consistent.
fn feed(client: &mut Connection, bytes: &[u8], segment: usize) -> Result<(), TestCaseError> {
    let _ = client.take_outgoing(NOW);
    let mut failed = false;
    for chunk in bytes.chunks(segment.max(1)) {
        match client.receive(NOW, chunk) {
            Ok(()) => prop_assert!(!failed, "it recovered from an error"),
            Err(error) => {
                prop_assert!(!error.to_string().is_empty());
                prop_assert!(!failed || error == Error::Closed);
                failed = true;
            }
        }
    }
    let ended = client.receive_end(NOW);
    if !failed && ended.is_ok() {
        prop_assert!(client.ready().is_some(), "the handshake is not done, and nothing is wrong");
    }
    prop_assert!(client.ready().is_none() || client.outcome().is_some());
    let times: Vec<_> = client.events().iter().map(|event| event.at).collect();
    prop_assert!(times.is_sorted());
    Ok(())
}

fn seeded(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(8446),
        ..ProptestConfig::default()
    }
}

fn recording(version: Version) -> &'static [u8] {
    static TLS12: OnceLock<Vec<u8>> = OnceLock::new();
    static TLS13: OnceLock<Vec<u8>> = OnceLock::new();
    match version {
        Version::Tls12 => TLS12.get_or_init(|| tls12_recording().concat()),
        Version::Tls13 => TLS13.get_or_init(tls13_recording),
    }
}

proptest! {
    #![proptest_config(seeded(600))]

    #[test]
    fn a_recorded_tls12_server_on_the_wire(mutations in mutations(), segment in 1_usize..2000) {
        let mut bytes = recording(Version::Tls12).to_vec();
        mutations.iter().for_each(|mutation| mutation.apply(&mut bytes));
        feed(&mut begun(Version::Tls12), &bytes, segment)?;
    }

    #[test]
    fn a_recorded_tls13_server_on_the_wire(mutations in mutations(), segment in 1_usize..2000) {
        let mut bytes = recording(Version::Tls13).to_vec();
        mutations.iter().for_each(|mutation| mutation.apply(&mut bytes));
        feed(&mut begun(Version::Tls13), &bytes, segment)?;
    }

    #[test]
    fn a_server_hello(mutations in mutations(), tls13 in any::<bool>()) {
        let version = if tls13 { Version::Tls13 } else { Version::Tls12 };
        let mut client = begun(version);
        let mut message = match version {
            Version::Tls13 => Server::answering(&mut client).hello().message(),
            Version::Tls12 => tls12::Server::answering(&mut client).hello().message(),
        };
        mutations.iter().for_each(|mutation| mutation.apply(&mut message));
        feed(&mut client, &clear(ContentType::HANDSHAKE, &message), usize::MAX)?;
    }

    /// Under live keys, so that the client gets to read what was mutated.
    #[test]
    fn an_encrypted_flight(mutations in mutations(), fragment in 1_usize..600) {
        let (mut client, mut server) = tls13_greeted();
        let honest = server.flight().concat();
        let mut flight = honest.clone();
        mutations.iter().for_each(|mutation| mutation.apply(&mut flight));
        let records: Vec<u8> = flight.chunks(fragment).flat_map(|part| server.record(ContentType::HANDSHAKE, part)).collect();
        feed(&mut client, &records, usize::MAX)?;
        prop_assert!(client.ready().is_none() || flight.starts_with(&honest), "the Finished covers every byte");
    }

    #[test]
    fn messages_after_the_handshake(mutations in mutations(), kind in 20_u8..25) {
        let (mut client, mut server) = tls13_connected();
        let mut messages = crate::script::tls13::new_session_ticket(&[1], b"ticket");
        messages.extend([24, 0, 0, 1, 1]);
        mutations.iter().for_each(|mutation| mutation.apply(&mut messages));
        let first = server.record(ContentType::HANDSHAKE, &messages);
        let second = server.record(ContentType(kind), &messages);
        feed(&mut client, &[first, second].concat(), usize::MAX)?;
    }
}
