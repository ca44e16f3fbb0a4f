//! Key exchange over every group that is spoken, X25519MLKEM768 among them.

use reprise_engine::{Config, Error, GROUPS, Misbehaviour, Unspoken};
use reprise_lab::KeyKind;
use reprise_model::{Kind, Version};
use reprise_wire::extensions::{KeyShareClientHello, SupportedGroups};
use reprise_wire::{ExtensionType, NamedGroup, SignatureScheme};
use rustls::HandshakeKind;

use crate::client::{client, trusting_client};
use crate::pair::Pair;
use crate::script::tls12::{greeted_with, handshake};
use crate::script::{HeardHello, NOW};
use crate::server::{ONLY_TLS13, Server, authority};
use crate::{FULL, begun_with, tickets};

const HYBRID: NamedGroup = NamedGroup::X25519MLKEM768;

fn pair(ours: &[NamedGroup], theirs: &[NamedGroup]) -> Pair {
    let config = Config { versions: vec![Version::Tls13], groups: ours.to_vec(), ..client(authority()) };
    let server = Server { versions: &ONLY_TLS13, groups: theirs.to_vec(), ..Server::with(KeyKind::P256) };
    Pair::new(config, server.start())
}

#[test]
fn x25519mlkem768_in_a_full_and_in_a_resumed_handshake() {
    let mut pair = pair(&[HYBRID, NamedGroup::X25519], &[HYBRID]);
    pair.drive();
    for kind in [Kind::Full, Kind::Ticket] {
        let outcome = pair.outcome();
        assert_eq!((outcome.kind, outcome.group.as_deref()), (kind, Some("X25519MLKEM768")));
        assert!(!outcome.hello_retry_request);
        assert_eq!(pair.round_trips(), 1);
        let ticket = tickets(pair.client.take_sessions()).pop().unwrap();
        pair.complete(reprise_engine::Offer::Ticket(ticket));
    }
    assert_eq!(pair.server.handshake_kind(), Some(HandshakeKind::Resumed));
}

#[test]
fn groups_after_the_first_have_no_share_and_cost_a_retry() {
    for (ours, theirs) in [([HYBRID, NamedGroup::X25519], NamedGroup::X25519), ([NamedGroup::X25519, HYBRID], HYBRID)] {
        let mut client = begun_with(Config { groups: ours.to_vec(), ..trusting_client() }, FULL);
        let heard = HeardHello::from(&mut client);
        let shares = KeyShareClientHello::parse(heard.extension(ExtensionType::KEY_SHARE).unwrap()).unwrap();
        assert_eq!(shares.client_shares.iter().map(|share| share.group).collect::<Vec<_>>(), ours[..1]);

        let mut pair = pair(&ours, &[theirs]);
        pair.drive();
        assert!(pair.outcome().hello_retry_request);
        assert_eq!(pair.outcome().group, Some(theirs.to_string()));
        assert_eq!(pair.round_trips(), 2);
    }
}

#[test]
fn it_belongs_to_tls13_alone() {
    let offered = |versions: Vec<Version>| {
        let config = Config { versions, groups: GROUPS.to_vec(), ..trusting_client() };
        let heard = HeardHello::from(&mut begun_with(config, FULL));
        let data = heard.extension(ExtensionType::SUPPORTED_GROUPS).unwrap();
        SupportedGroups::parse(data).unwrap().values.iter().collect::<Vec<_>>()
    };
    assert_eq!(offered(vec![Version::Tls13]), GROUPS);
    assert_eq!(offered(vec![Version::Tls12, Version::Tls13]), GROUPS);
    assert_eq!(offered(vec![Version::Tls12]), GROUPS[1..]);

    // Offered to a server of TLS 1.3, and chosen by one of TLS 1.2.
    let mut client = begun_with(Config { groups: GROUPS.to_vec(), ..trusting_client() }, FULL);
    let mut server = greeted_with(&mut client, |_| {});
    let certificate = server.certificate(KeyKind::P256);
    server.group = HYBRID;
    let exchange = server.server_key_exchange_as(&[4; 32], SignatureScheme::ECDSA_SECP256R1_SHA256, |_| {});
    let error = client.receive(NOW, &handshake(&[certificate, exchange])).unwrap_err();
    assert_eq!(error, Misbehaviour::UnofferedGroup(HYBRID).into());
}

#[test]
fn secp521r1_is_spoken_where_it_is_asked_for() {
    // rustls does not speak it: a server that is told our own share must reach the same secret.
    let mut client = begun_with(
        Config { versions: vec![Version::Tls13], groups: vec![NamedGroup::SECP521R1], ..trusting_client() },
        FULL,
    );
    let mut server = crate::script::tls13::Server::answering(&mut client);
    server.complete(&mut client);
    assert_eq!(client.outcome().unwrap().group.as_deref(), Some("secp521r1"));
}

#[test]
fn unsupported_groups_differ_from_groups_not_offered() {
    let asked = |survey| {
        let mut client = begun_with(Config { versions: vec![Version::Tls13], survey, ..trusting_client() }, FULL);
        let mut server = crate::script::tls13::Server::answering(&mut client);
        let retry = server.retry(NamedGroup::FFDHE2048);
        client.receive(NOW, &server.say(&retry)).unwrap_err()
    };
    assert_eq!(asked(false), Misbehaviour::UnofferedGroup(NamedGroup::FFDHE2048).into());
    assert_eq!(asked(true), Error::Unspoken(Unspoken::Group(NamedGroup::FFDHE2048)));
}
