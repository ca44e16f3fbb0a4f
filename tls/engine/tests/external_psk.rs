//! External PSKs: offered, taken, refused (RFC 9846 §4.3.11).

use reprise_engine::key_schedule::tls13::{BinderLabel, EarlySecret};
use reprise_engine::suite::Hash;
use reprise_engine::{Config, Connection, Error, ExternalPsk, Misbehaviour, Offer};
use reprise_lab::KeyKind;
use reprise_model::{Kind, PskMode, Verification, Version};
use reprise_wire::extensions::OfferedPsks;
use reprise_wire::{CipherSuite, ExtensionType, NamedGroup};
use zeroize::Zeroizing;

use crate::client::{self, client};
use crate::pair::Pair;
use crate::script::tls13::{Server, new_session_ticket, refusal_of_hello};
use crate::script::{HeardHello, NOW, hash};
use crate::server::{self, ONLY_TLS13, authority};
use crate::{begun_with, psk_config, tickets};

fn psk(hash: Hash) -> ExternalPsk {
    // Longer than any secret of the key schedule: its length is not TLS's business.
    ExternalPsk { identity: b"a meter".to_vec(), key: Zeroizing::new(vec![3; 64]), hash }
}

fn offering(hash: Hash) -> Connection {
    begun_with(psk_config(&[PskMode::PskDheKe]), Offer::External(psk(hash)))
}

/// Asserts that the last hello offers the PSK, with age zero, and proves that its sender has the key. `before` is what
/// the binder's transcript begins with.
fn verify(heard: &HeardHello, hash_of: Hash, before: &[u8]) {
    let extension = heard.extension(ExtensionType::PRE_SHARED_KEY).unwrap();
    let offered = OfferedPsks::parse(extension).unwrap();
    let identities: Vec<_> = offered.identities.iter().collect();
    assert_eq!(identities.len(), 1);
    assert_eq!((identities[0].identity, identities[0].obfuscated_ticket_age), (&b"a meter"[..], 0));
    let covered = &heard.message[..heard.message.len() - offered.binders_len()];
    let early = EarlySecret::new(hash_of, Some(&psk(hash_of).key)).unwrap();
    let due = early.binder(BinderLabel::External, &hash(hash_of, &[before, covered].concat())).unwrap();
    assert_eq!(offered.binders.first().unwrap().0, due.as_ref());
}

#[test]
fn the_binder_proves_the_key_under_either_hash() {
    for hash in [Hash::Sha256, Hash::Sha384] {
        verify(&HeardHello::from(&mut offering(hash)), hash, &[]);
    }
}

#[test]
fn it_is_taken_in_either_mode_and_observed_as_psk() {
    for (mode, suite, hash) in [
        (PskMode::PskDheKe, CipherSuite::TLS_AES_128_GCM_SHA256, Hash::Sha256),
        (PskMode::PskDheKe, CipherSuite::TLS_CHACHA20_POLY1305_SHA256, Hash::Sha256),
        (PskMode::PskKe, CipherSuite::TLS_AES_256_GCM_SHA384, Hash::Sha384),
    ] {
        let mut client = begun_with(psk_config(&[mode]), Offer::External(psk(hash)));
        let mut server = Server::answering(&mut client).under(suite).taking(&psk(hash).key);
        if mode == PskMode::PskKe {
            server = server.without_share();
        }
        server.complete(&mut client);
        let outcome = client.outcome().unwrap();
        assert_eq!((outcome.kind, outcome.psk_mode), (Kind::Psk, Some(mode)));
        assert_eq!((outcome.verification, &outcome.peer_key), (Verification::Inherited, &None));
        assert!(outcome.session_offered && client.ready().is_some());

        // A ticket of such a connection is like any other.
        server.send_application();
        client.receive(NOW, &server.handshake(&[new_session_ticket(&[1], b"ticket")])).unwrap();
        let ticket = tickets(client.take_sessions()).pop().unwrap();
        let mut client = begun_with(psk_config(&[mode]), Offer::Ticket(ticket.clone()));
        let mut server = Server::answering(&mut client).under(suite).resuming(&ticket);
        if mode == PskMode::PskKe {
            server = server.without_share();
        }
        server.greet(&mut client);
        assert_eq!(client.outcome().unwrap().kind, Kind::Ticket);
    }
}

#[test]
fn a_server_that_does_not_know_it_does_a_full_handshake() {
    let server = server::Server { versions: &ONLY_TLS13, ..server::Server::with(KeyKind::P256) }.start();
    let mut pair = Pair::new(Config { versions: vec![Version::Tls13], ..client(authority()) }, server);
    pair.complete(Offer::External(psk(Hash::Sha256)));
    let outcome = pair.outcome();
    assert_eq!((outcome.kind, outcome.psk_mode), (Kind::Full, None));
    assert_eq!(outcome.verification, Verification::Verified);
    assert!(outcome.session_offered);
}

#[test]
fn a_server_that_takes_it_wrongly() {
    let take = |suite: CipherSuite, index: u8| {
        refusal_of_hello(&mut offering(Hash::Sha256), |hello| {
            hello.suite = suite;
            hello.set(ExtensionType::PRE_SHARED_KEY, &[0, index]);
        })
    };
    let other = CipherSuite::TLS_AES_256_GCM_SHA384;
    assert_eq!(take(other, 0), Misbehaviour::PskOfAnotherHash(other).into());
}

#[test]
fn a_binder_after_a_retry_covers_both_hellos() {
    let mut client = offering(Hash::Sha384);
    let mut server = Server::answering(&mut client).under(CipherSuite::TLS_AES_256_GCM_SHA384);
    let retry = server.retry(NamedGroup::SECP256R1);
    client.receive(NOW, &server.say(&retry)).unwrap();
    let before = server.said_and_heard().to_vec();
    server.hear_again(&mut client);
    verify(&server.heard, Hash::Sha384, &before);

    let mut client = offering(Hash::Sha256);
    let mut server = Server::answering(&mut client).under(CipherSuite::TLS_AES_256_GCM_SHA384);
    let retry = server.retry(NamedGroup::SECP256R1);
    client.receive(NOW, &server.say(&retry)).unwrap();
    server.hear_again(&mut client);
    assert_eq!(server.heard.extension(ExtensionType::PRE_SHARED_KEY), None);
}

#[test]
fn an_impossible_condition_is_refused_before_sending() {
    let refused = |config: Config, offer: ExternalPsk| client::start(&config.into(), Offer::External(offer), NOW).err();
    let good = || psk(Hash::Sha256);
    let modes = &[PskMode::PskDheKe];
    let nothing = "an external PSK needs an identity and a key";
    let cases = [
        (nothing, psk_config(modes), ExternalPsk { identity: Vec::new(), ..good() }),
        (nothing, psk_config(modes), ExternalPsk { key: Zeroizing::default(), ..good() }),
        (
            "no cipher suite has the hash of the external PSK",
            Config { cipher_suites: vec![CipherSuite::TLS_AES_256_GCM_SHA384], ..psk_config(modes) },
            good(),
        ),
        (
            "the session is of a version that is not offered",
            Config { versions: vec![Version::Tls12], ..psk_config(modes) },
            good(),
        ),
        ("a PSK needs a mode to be used in", psk_config(&[]), good()),
    ];
    for (why, config, offer) in cases {
        assert_eq!(refused(config, offer), Some(Error::NothingToOffer(why)));
    }
}

#[test]
fn the_key_is_not_printed() {
    let shown = format!("{:?}", Offer::External(psk(Hash::Sha256)));
    assert_eq!(shown, "External(ExternalPsk(\"a meter\", Sha256))");
}
