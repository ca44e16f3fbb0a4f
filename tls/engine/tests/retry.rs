//! HelloRetryRequest by the rules and against them.

use std::sync::Arc;

use reprise_engine::{Config, Connection, Error, KeyShare, KeyShares, Misbehaviour, Offer, SharedSecret, Unspoken};
use reprise_model::{Kind, Version};
use reprise_wire::extensions::Cookie;
use reprise_wire::{CipherSuite, ContentType, ExtensionType, NamedGroup};

use crate::client::trusting_client;
use crate::script::tls13::Server;
use crate::script::{Hello, NOW, alert_of, clear};
use crate::{FULL, begun, begun_with, ticket};

/// What the client makes of a HelloRetryRequest for P-256 that was edited.
fn retried(client: &mut Connection, edit: impl FnOnce(&mut Hello)) -> (Server, Result<(), Error>) {
    let mut server = Server::answering(client);
    let mut retry = server.retry(NamedGroup::SECP256R1);
    edit(&mut retry);
    let result = client.receive(NOW, &server.say(&retry));
    (server, result)
}

fn refused(edit: impl FnOnce(&mut Hello)) -> Error {
    retried(&mut begun(Version::Tls13), edit).1.unwrap_err()
}

fn cookie(bytes: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    Cookie { cookie: bytes }.emit(&mut data);
    data
}

#[test]
fn one_that_asks_for_what_was_not_offered() {
    let error = refused(|retry| retry.suite = CipherSuite(0x1304));
    assert_eq!(error, Misbehaviour::UnofferedSuite(CipherSuite(0x1304)).into());
    let error = refused(|retry| retry.session_id.clear());
    assert_eq!(error, Misbehaviour::SessionIdNotEchoed.into());
    let error = refused(|retry| retry.set(ExtensionType(0xfafa), &[]));
    assert_eq!(error, Misbehaviour::UnofferedExtension(ExtensionType(0xfafa)).into());
    let error = refused(|retry| retry.set(ExtensionType::COOKIE, &cookie(&[])));
    assert!(matches!(error, Error::Malformed { message: "cookie", .. }), "{error}");
}

#[test]
fn one_that_is_not_of_tls13() {
    let mut client = begun_with(trusting_client(), FULL);
    let (_, result) = retried(&mut client, |retry| retry.remove(ExtensionType::SUPPORTED_VERSIONS));
    assert_eq!(result, Err(Misbehaviour::IllegalRetry("it is not of TLS 1.3").into()));
}

#[test]
fn a_cookie_is_given_back_with_the_same_share() {
    let mut client = begun(Version::Tls13);
    let (mut server, result) = retried(&mut client, |retry| {
        retry.remove(ExtensionType::KEY_SHARE);
        retry.set(ExtensionType::COOKIE, &cookie(b"biscuit"));
    });
    result.unwrap();
    let share = server.heard.extension(ExtensionType::KEY_SHARE).map(<[u8]>::to_vec);
    server.hear_again(&mut client);
    assert_eq!(server.heard.extension(ExtensionType::COOKIE), Some(&cookie(b"biscuit")[..]));
    assert_eq!(server.heard.extension(ExtensionType::KEY_SHARE), share.as_deref());

    server.complete(&mut client);
    assert!(client.ready().is_some());
    assert!(client.outcome().unwrap().hello_retry_request);
}

#[test]
fn a_cookie_too_long_to_be_given_back() {
    let mut client = begun(Version::Tls13);
    let (_, result) = retried(&mut client, |retry| retry.set(ExtensionType::COOKIE, &cookie(&[7; 65_400])));
    assert_eq!(result, Err(Error::TooLarge { what: "ticket or cookie", limit: 0xffff }));
}

#[test]
fn a_psk_of_another_hash_is_withdrawn_but_not_forgotten() {
    let config = Config { versions: vec![Version::Tls13], ..trusting_client() };
    let mut client = begun_with(config, Offer::Ticket(ticket()));
    let mut server = Server::answering(&mut client).under(CipherSuite::TLS_AES_256_GCM_SHA384);
    assert!(server.heard.extension(ExtensionType::PRE_SHARED_KEY).is_some());
    let retry = server.retry(NamedGroup::SECP384R1);
    client.receive(NOW, &server.say(&retry)).unwrap();
    server.hear_again(&mut client);
    assert!(server.heard.extension(ExtensionType::PRE_SHARED_KEY).is_none());
    server.complete(&mut client);
    let outcome = client.outcome().unwrap();
    assert_eq!(outcome.kind, Kind::Full);
    assert!(outcome.session_offered && outcome.hello_retry_request);
}

#[test]
fn the_second_hello_is_the_first_but_for_what_was_asked() {
    let mut client = begun(Version::Tls13);
    let (mut server, result) = retried(&mut client, |_| {});
    result.unwrap();
    let first = server.heard.message.clone();
    server.hear_again(&mut client);
    let [first, second] = [&first, &server.heard.message].map(|message| {
        let hello = reprise_wire::ClientHello::parse(&message[4..]).unwrap();
        let rest = hello.extensions.unwrap().iter().filter(|(extension, _)| *extension != ExtensionType::KEY_SHARE);
        (
            *hello.random,
            hello.session_id.to_vec(),
            hello.cipher_suites.as_bytes().to_vec(),
            rest.map(|(e, d)| (e, d.to_vec())).collect::<Vec<_>>(),
        )
    });
    assert_eq!(first, second);
    assert_eq!(alert_of(&mut client), None);
}

/// Shares of any group at all.
struct Anything;

impl KeyShares for Anything {
    fn share(&self, group: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
        Ok(Box::new(Share(group)))
    }
}

struct Share(NamedGroup);

impl KeyShare for Share {
    fn group(&self) -> NamedGroup {
        self.0
    }

    fn public(&self) -> &[u8] {
        &[9; 32]
    }

    fn agree(&self, _: &[u8]) -> Result<SharedSecret, Error> {
        Ok(SharedSecret::default())
    }
}

#[test]
fn a_group_is_supported_by_the_callers_shares_or_the_engine() {
    let client = |groups, survey| {
        let key_shares = Arc::new(Anything);
        begun_with(Config { versions: vec![Version::Tls13], groups, survey, key_shares, ..trusting_client() }, FULL)
    };
    let asked = |client: &mut Connection, group: NamedGroup| {
        let mut retry = Server::answering(client).retry(group);
        retry.set(ExtensionType::KEY_SHARE, &group.0.to_be_bytes());
        client.receive(NOW, &crate::script::clear(ContentType::HANDSHAKE, &retry.message()))
    };
    let hybrid = NamedGroup::X25519MLKEM768;
    assert_eq!(asked(&mut client(vec![NamedGroup::X25519, hybrid], false), hybrid), Ok(()));
    // Not the caller's choice, offered by a survey, and spoken all the same.
    assert_eq!(asked(&mut client(vec![NamedGroup::X25519], true), NamedGroup::SECP256R1), Ok(()));
    let unspoken = Error::Unspoken(Unspoken::Group(NamedGroup::X448));
    assert_eq!(asked(&mut client(vec![NamedGroup::X25519], true), NamedGroup::X448), Err(unspoken));
}

#[test]
fn a_retry_that_is_not_to_be_answered_names_its_group() {
    let mut client = begun_with(Config { answers_retry: false, ..trusting_client() }, FULL);
    let retry = Server::answering(&mut client).retry(NamedGroup::SECP384R1);
    let refused = client.receive(NOW, &crate::script::clear(ContentType::HANDSHAKE, &retry.message()));
    assert_eq!(refused, Err(Error::RetryRequested(Some(NamedGroup::SECP384R1))));
    assert!(client.take_outgoing(NOW).is_empty(), "neither a second ClientHello nor an alert");
}

/// BoGo: `PartialServerHelloWithHelloRetryRequest`. What answers the second ClientHello cannot come before it.
#[test]
fn a_message_in_the_record_of_a_hello_retry_request() {
    let mut client = begun(Version::Tls13);
    let server = Server::answering(&mut client);
    let retry = server.retry(NamedGroup::SECP384R1).message();
    let records = clear(ContentType::HANDSHAKE, &[&retry[..], &[2, 0]].concat());
    assert_eq!(client.receive(NOW, &records), Err(Misbehaviour::KeyChangeInsideMessage.into()));
}
