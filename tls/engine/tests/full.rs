//! Full handshakes with rustls.

use reprise_engine::{CertificateError, Config, EcdhKeyShare, Error};
use reprise_lab::{Authority, KeyKind};
use reprise_model::{ClientAuthentication, Direction, Kind, Verification, Version};
use reprise_wire::{CipherSuite, NamedGroup, Record};
use rustls::HandshakeKind;

use crate::FULL;
use crate::client::{client, trusting_client};
use crate::pair::{Ended, LATENCY, Pair};
use crate::server::{ONLY_TLS12, Resumption, Server, authority};

/// The suites of TLS 1.3.
pub(crate) const SUITES: [CipherSuite; 3] =
    [CipherSuite::TLS_AES_128_GCM_SHA256, CipherSuite::TLS_AES_256_GCM_SHA384, CipherSuite::TLS_CHACHA20_POLY1305_SHA256];
pub(crate) const ECDSA: [CipherSuite; 3] = [
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
];
const RSA: [CipherSuite; 3] = [
    CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
];

const TLS12_STORY: &str = "> ClientHello < ServerHello < Certificate < ServerKeyExchange < ServerHelloDone \
    > ClientKeyExchange > ChangeCipherSpec > {Finished} < NewSessionTicket < ChangeCipherSpec < {Finished}";
const TLS13_STORY: &str = "> ClientHello < ServerHello < ChangeCipherSpec < {EncryptedExtensions} < {Certificate} \
    < {CertificateVerify} < {Finished} > ChangeCipherSpec > {Finished} < {NewSessionTicket} < {NewSessionTicket}";

#[test]
fn every_suite_with_every_group_and_every_key() {
    let keys = [
        (KeyKind::Rsa2048, RSA, "rsa_pss_rsae_sha512"),
        (KeyKind::P256, ECDSA, "ecdsa_secp256r1_sha256"),
        (KeyKind::P384, ECDSA, "ecdsa_secp384r1_sha384"),
        (KeyKind::Ed25519, ECDSA, "ed25519"),
    ];
    for (key, tls12_suites, scheme) in keys {
        for suite in tls12_suites {
            for &group in EcdhKeyShare::GROUPS {
                // A certificate's curve must be among the groups too (RFC 8422 §5.1).
                let groups = EcdhKeyShare::GROUPS.to_vec();
                let config = Config { versions: vec![Version::Tls12], groups, ..client(authority()) };
                let server = Server { cipher_suites: vec![suite], groups: vec![group], ..Server::with(key) };
                assert_full(&Pair::completed(config, server.start()), (key, scheme), suite, group);
            }
        }
        for suite in SUITES {
            for &group in EcdhKeyShare::GROUPS {
                let config = Config { groups: vec![group], ..client(authority()) };
                let pair = Pair::completed(config, Server { cipher_suites: vec![suite], ..Server::with(key) }.start());
                assert_full(&pair, (key, scheme), suite, group);
            }
        }
    }
}

/// A full handshake without a retry, by this key and the scheme in which it signs.
fn assert_full(pair: &Pair, (key, scheme): (KeyKind, &str), suite: CipherSuite, group: NamedGroup) {
    let (version, story, round_trips) = match SUITES.contains(&suite) {
        true => (Version::Tls13, TLS13_STORY, 1),
        false => (Version::Tls12, TLS12_STORY, 2),
    };
    let outcome = pair.outcome();
    assert_eq!((outcome.version, outcome.kind), (version, Kind::Full));
    assert_eq!((outcome.cipher, outcome.group), (suite.to_string(), Some(group.to_string())));
    assert_eq!((outcome.peer_key.as_deref(), outcome.signature.as_deref()), (Some(key.label()), Some(scheme)));
    assert_eq!(outcome.verification, Verification::Verified);
    assert_eq!(outcome.client_authentication, ClientAuthentication::NotRequested);
    assert!(outcome.extended_master_secret);
    assert!(!outcome.hello_retry_request && !outcome.session_offered && outcome.psk_mode.is_none());
    assert_eq!(pair.server.handshake_kind(), Some(HandshakeKind::Full));
    assert_eq!((pair.told().as_str(), pair.round_trips()), (story, round_trips));
    assert!(pair.client.is_confirmed());
}

#[test]
fn events_have_the_time_and_size_of_what_was_on_the_wire() {
    let mut pair = Pair::new(client(authority()), Server::with(KeyKind::P256).start());
    let begun = pair.now;
    pair.drive();

    let events = pair.client.events();
    let arrived = begun + LATENCY + LATENCY;
    assert!(events[1..7].iter().all(|event| event.at == arrived && event.direction == Direction::Received));
    assert_eq!((events[0].at, events[8].at), (begun, arrived));
    assert_eq!(pair.client.ready().map(|ready| (ready.at, ready.events)), Some((arrived, 7)));

    for (direction, bytes) in [(Direction::Sent, &pair.sent), (Direction::Received, &pair.received)] {
        let seen = events.iter().filter(|event| event.direction == direction);
        let (protected, clear): (Vec<_>, Vec<_>) = seen.partition(|event| event.encrypted);
        let total = |events: &[&reprise_model::Event]| events.iter().map(|event| event.size.0).sum::<u64>();
        assert_eq!((total(&clear), total(&protected)), content_of(bytes));
    }
}

/// Bytes of content in the records of a stream: in the clear, and protected (without content type and tag).
fn content_of(mut stream: &[u8]) -> (u64, u64) {
    let (mut clear, mut protected) = (0, 0);
    while let Some((record, consumed)) = Record::parse(stream).unwrap() {
        match record.content_type {
            reprise_wire::ContentType::APPLICATION_DATA => protected += record.fragment.len() as u64 - 17,
            _ => clear += record.fragment.len() as u64,
        }
        stream = &stream[consumed..];
    }
    (clear, protected)
}

#[test]
fn the_secrets_are_those_that_the_server_logs() {
    for suite in SUITES.into_iter().chain(ECDSA) {
        let server = Server { cipher_suites: vec![suite], ..Server::with(KeyKind::P256) };
        let mut pair = Pair::new(client(authority()), server.start());
        let [ours, theirs] = pair.key_logs();
        pair.complete(FULL);
        assert_eq!(ours.sorted(), theirs.sorted());
        let of_tls12 = ours.sorted().iter().filter(|line| line.starts_with("CLIENT_RANDOM ")).count();
        assert_eq!((ours.sorted().len(), of_tls12), if SUITES.contains(&suite) { (5, 0) } else { (1, 1) });
    }
}

#[test]
fn a_server_that_prefers_another_group_costs_a_round_trip() {
    for group in [NamedGroup::SECP256R1, NamedGroup::SECP384R1] {
        for suite in SUITES {
            let server = Server { groups: vec![group], cipher_suites: vec![suite], ..Server::with(KeyKind::P256) };
            let pair = Pair::completed(client(authority()), server.start());

            let outcome = pair.outcome();
            assert!(outcome.hello_retry_request);
            assert_eq!(outcome.group, Some(group.to_string()));
            assert_eq!(pair.server.handshake_kind(), Some(HandshakeKind::FullWithHelloRetryRequest));
            assert_eq!(pair.round_trips(), 2);
            let beginning = [
                "> ClientHello",
                "< HelloRetryRequest",
                "< ChangeCipherSpec",
                "> ChangeCipherSpec",
                "> ClientHello",
                "< ServerHello",
                "< {EncryptedExtensions}",
            ];
            assert_eq!(pair.story()[..beginning.len()], beginning);
            // RFC 9846 §E.4: ChangeCipherSpec is not sent again.
            assert_eq!(pair.story()[beginning.len() + 3..][..1], ["> {Finished}"]);
        }
    }
}

#[test]
fn a_server_that_resumes_nothing_leaves_nothing_behind() {
    let server = Server { resumption: Resumption::Off, versions: &ONLY_TLS12, ..Server::with(KeyKind::P256) };
    let mut pair = Pair::new(client(authority()), server.start());
    pair.complete(FULL);
    assert!(pair.client.take_sessions().is_empty());
    assert!(!pair.outcome().session_id_given);
    assert_eq!(pair.outcome().tickets, 0);
}

#[test]
fn no_server_name_is_sent_unless_asked_for() {
    for sni in [None, Some("localhost".to_owned())] {
        let mut config = client(authority());
        config.sni = sni.clone();
        let pair = Pair::completed(config, Server::with(KeyKind::P256).start());
        assert_eq!(pair.server.server_name(), sni.as_deref());
    }
}

#[test]
fn a_server_without_tls13_is_spoken_to_in_tls12() {
    let pair = Pair::completed(client(authority()), Server { versions: &ONLY_TLS12, ..Server::with(KeyKind::P256) }.start());
    assert_eq!(pair.outcome().version, Version::Tls12);
}

#[test]
fn an_untrusted_chain_is_refused_and_the_server_is_told() {
    let stranger = Authority::new().unwrap();
    let mut pair = Pair::new(client(&stranger), Server::with(KeyKind::P256).start());
    assert_eq!(pair.try_drive(), Err(Ended::ByClient(Error::Certificate(CertificateError::UnknownIssuer))));
    // Under the handshake keys, since both sides have them.
    assert_eq!(pair.story().last().map(String::as_str), Some("> {unknown_ca}"));
    let told = rustls::Error::AlertReceived(rustls::AlertDescription::UnknownCA);
    assert_eq!(pair.server.process_new_packets().map(|_| ()), Err(told));
    assert_eq!(pair.outcome().peer_key.as_deref(), Some("p-256"));
    assert!(pair.client.ready().is_none());
}

#[test]
fn any_chain_is_accepted_on_request_and_said_so() {
    let pair = Pair::completed(trusting_client(), Server::with(KeyKind::P256).start());
    assert_eq!(pair.outcome().verification, Verification::ChainSkipped);
}
