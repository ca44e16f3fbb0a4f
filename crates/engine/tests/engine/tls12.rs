//! Full TLS 1.2 handshakes with rustls.

use reprise_engine::EcdhKeyShare;
use reprise_lab::KeyKind;
use reprise_model::{ClientAuthentication, Kind, Verification, Version};
use reprise_wire::CipherSuite;
use rustls::HandshakeKind;

use crate::FULL;
use crate::client::client;
use crate::pair::Pair;
use crate::server::{ONLY_TLS12, Resumption, Server, authority};

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

#[test]
fn every_suite_with_every_group_and_every_key() {
    let keys = [
        (KeyKind::Rsa2048, RSA, "rsa_pss_rsae_sha512"),
        (KeyKind::P256, ECDSA, "ecdsa_secp256r1_sha256"),
        (KeyKind::P384, ECDSA, "ecdsa_secp384r1_sha384"),
        (KeyKind::Ed25519, ECDSA, "ed25519"),
    ];
    for (key, suites, scheme) in keys {
        for suite in suites {
            for &group in EcdhKeyShare::GROUPS {
                let mut config = client(authority());
                config.versions = vec![Version::Tls12];
                // A certificate's curve must be among the groups too (RFC 8422 §5.1).
                config.groups = EcdhKeyShare::GROUPS.to_vec();
                let server = Server { cipher_suites: vec![suite], groups: vec![group], ..Server::with(key) };
                let pair = Pair::completed(config, server.start());

                let outcome = pair.outcome();
                assert_eq!((outcome.version, outcome.kind), (Version::Tls12, Kind::Full));
                assert_eq!(outcome.cipher, suite.to_string());
                assert_eq!(outcome.group, Some(group.to_string()));
                assert_eq!(outcome.peer_key.as_deref(), Some(key.label()));
                assert_eq!(outcome.signature.as_deref(), Some(scheme));
                assert_eq!(outcome.verification, Verification::Verified);
                assert_eq!(outcome.client_authentication, ClientAuthentication::NotRequested);
                assert!(outcome.extended_master_secret && !outcome.session_offered);
                assert_eq!(pair.server.handshake_kind(), Some(HandshakeKind::Full));
                assert_eq!(pair.round_trips(), 2);
                let story = "> ClientHello < ServerHello < Certificate < ServerKeyExchange < ServerHelloDone \
                    > ClientKeyExchange > ChangeCipherSpec > {Finished} < NewSessionTicket < ChangeCipherSpec \
                    < {Finished}";
                assert_eq!(pair.told(), story);
            }
        }
    }
}

#[test]
fn the_master_secret_is_the_one_that_the_server_logs() {
    for suite in ECDSA {
        let server = Server { cipher_suites: vec![suite], versions: &ONLY_TLS12, ..Server::with(KeyKind::P256) };
        let mut pair = Pair::new(client(authority()), server.start());
        let [ours, theirs] = pair.key_logs();
        pair.complete(FULL);
        assert_eq!(ours.sorted(), theirs.sorted());
        assert!(ours.sorted().iter().all(|line| line.starts_with("CLIENT_RANDOM ")));
        assert_eq!(ours.sorted().len(), 1);
    }
}

#[test]
fn alpn_is_what_the_server_chose() {
    let mut config = client(authority());
    config.versions = vec![Version::Tls12];
    config.alpn = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let server = Server { alpn: vec![b"http/1.1".to_vec()], ..Server::with(KeyKind::P256) };
    let pair = Pair::completed(config, server.start());
    assert_eq!(pair.outcome().alpn.as_deref(), Some("http/1.1"));
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
