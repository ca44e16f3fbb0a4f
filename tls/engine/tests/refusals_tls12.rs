//! TLS 1.2 servers that break a rule after their ServerHello.

use reprise_engine::{Config, Connection, Error, Misbehaviour, Offer, Tls12Session};
use reprise_lab::KeyKind;
use reprise_model::Version;
use reprise_wire::{CipherSuite, ContentType, ExtensionType, HandshakeType, NamedGroup, SignatureScheme};

use crate::client::{identity, trusting_client};
use crate::refusals::assert_refused;
use crate::script::tls12::{CHANGE_CIPHER_SPEC, Server, greeted_with, handshake};
use crate::script::{Hello, NOW, alert_of, framed};
use crate::server::certificate;
use crate::{FULL, begun, begun_with, session, tls12_greeted, tls12_half_done};

/// A server by what it does, its flight, and what the user reads of it.
type FlightCase = (&'static str, fn(&mut Server) -> Vec<Vec<u8>>, &'static str);

/// A server's honest signature is in this scheme.
const SCHEME: SignatureScheme = SignatureScheme::ECDSA_SECP256R1_SHA256;

/// A session with an ID that a scripted server gave.
pub(crate) fn known_session(edit: impl FnOnce(&mut Hello)) -> Tls12Session {
    let (mut client, mut server) = tls12_half_done(|hello| {
        hello.session_id = vec![5; 32];
        edit(hello);
    });
    client.receive(NOW, &server.end()).unwrap();
    session(client.take_sessions())
}

pub(crate) fn offering(offer: Offer) -> Connection {
    begun_with(Config { versions: vec![Version::Tls12], ..trusting_client() }, offer)
}

/// RFC 7627 §5.3; the table of hostile servers has the other way round.
#[test]
fn a_session_without_extended_master_secret_resumes_without() {
    let without = known_session(|hello| hello.remove(ExtensionType::EXTENDED_MASTER_SECRET));
    assert!(!without.extended_master_secret);
    let mut client = offering(Offer::SessionId(without));
    let mut server = Server::answering(&mut client);
    let hello = Hello { session_id: vec![5; 32], ..server.hello() };
    assert_refused("with it", &mut client, &server.say(&hello), "another derivation of the master secret");
}

fn message(msg_type: HandshakeType, body: &[u8]) -> Vec<u8> {
    framed(msg_type, |out| out.extend_from_slice(body))
}

fn key_exchange(server: &mut Server, public: &[u8], scheme: SignatureScheme) -> Vec<Vec<u8>> {
    vec![server.certificate(KeyKind::P256), server.server_key_exchange_as(public, scheme, |_| {}), server.done()]
}

#[test]
fn a_flight_against_the_rules() {
    use HandshakeType as H;
    let cases: &[FlightCase] = &[
        ("a certificate of RSA", |server| vec![server.certificate(KeyKind::Rsa2048)], "key does not fit the cipher suite"),
        ("an empty chain", |_| vec![message(H::CERTIFICATE, &[0, 0, 0])], "the server sent no certificate"),
        (
            "a curve without a name",
            |server| {
                let explicit = message(H::SERVER_KEY_EXCHANGE, &[1, 0, 29, 1, 0, 8, 4, 0, 0]);
                vec![server.certificate(KeyKind::P256), explicit]
            },
            "ServerKeyExchange cannot be read",
        ),
        (
            "a wrong signature",
            |server| {
                let certificate = server.certificate(KeyKind::P256);
                let public = reprise_engine::KeyShare::public(&crate::script::share(server.group)).to_vec();
                let spoil = |signature: &mut Vec<u8>| *signature.last_mut().unwrap() ^= 1;
                vec![certificate, server.server_key_exchange_as(&public, SCHEME, spoil)]
            },
            "its signature over the handshake is wrong",
        ),
        ("a zero share", |server| key_exchange(server, &[0; 32], SCHEME), "its key share is invalid"),
        ("a short share", |server| key_exchange(server, &[9; 31], SCHEME), "its key share is invalid"),
        ("a tiny share", |server| key_exchange(server, &[4], SCHEME), "its key share is invalid"),
        ("no certificate", |server| vec![server.server_key_exchange()], "ServerKeyExchange where Certificate was due"),
        (
            "two key exchanges",
            |server| {
                // The first of them was signed before the certificate was sent, which is no matter.
                let exchange = server.server_key_exchange();
                vec![server.certificate(KeyKind::P256), exchange.clone(), exchange]
            },
            "ServerKeyExchange where ServerHelloDone was due",
        ),
        (
            "a staple unasked",
            |server| vec![server.certificate(KeyKind::P256), message(H::CERTIFICATE_STATUS, &[])],
            "CertificateStatus where ServerKeyExchange was due",
        ),
        (
            "words after it is done",
            |server| {
                let begin = vec![server.certificate(KeyKind::P256), server.server_key_exchange()];
                [begin, vec![message(H::SERVER_HELLO_DONE, &[0])]].concat()
            },
            "ServerHelloDone cannot be read",
        ),
        // BoGo: `PartialNewSessionTicketWithServerHelloDone`. Our Finished goes under new keys, so what the server says
        // after it may not begin before it (RFC 9846 §5.1 says it of TLS 1.3).
        (
            "a message around our flight",
            |server| [server.flight(), vec![vec![H::NEW_SESSION_TICKET.0, 0]]].concat(),
            "a handshake message spans a change of keys",
        ),
    ];
    for (what, say, words) in cases {
        let (mut client, mut server) = tls12_greeted(|_| {});
        let flight = say(&mut server).concat();
        assert_refused(what, &mut client, &handshake(&[flight]), words);
    }
}

#[test]
fn a_choice_that_was_not_offered_or_does_not_fit_the_key() {
    for group in [NamedGroup::SECP521R1, NamedGroup::X448, NamedGroup(0x0a0a)] {
        let (mut client, mut server) = tls12_greeted(|_| {});
        server.group = group;
        let flight = key_exchange(&mut server, &[4; 5], SCHEME);
        assert_refused("a group", &mut client, &handshake(&flight), &format!("it chose the group {group}"));
    }
    for scheme in [SignatureScheme::ECDSA_SHA1, SignatureScheme::RSA_PKCS1_SHA256, SignatureScheme::ED25519] {
        let (mut client, mut server) = tls12_greeted(|_| {});
        let flight = key_exchange(&mut server, &[9; 32], scheme);
        assert_refused("a scheme", &mut client, &handshake(&flight), &format!("it signed with {scheme}"));
    }
    for suite in [CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, CipherSuite::TLS_RSA_WITH_AES_128_GCM_SHA256] {
        let (mut client, mut server) = tls12_greeted(|hello| hello.suite = suite);
        let certificate = server.certificate(KeyKind::P256);
        assert_refused("a suite", &mut client, &handshake(&[certificate]), "key does not fit the cipher suite");
    }
}

/// It was called a failure of our own crypto library.
#[test]
fn an_unusable_rsa_encryption_key_is_the_servers_fault() {
    let genuine = certificate(KeyKind::Rsa2048).chain()[0].to_vec();
    let exponent = genuine.windows(5).position(|bytes| bytes == [2, 3, 1, 0, 1]).unwrap();
    let mut even = genuine;
    even[exponent + 4] = 0;
    let (mut client, mut server) = tls12_greeted(|hello| hello.suite = CipherSuite::TLS_RSA_WITH_AES_128_GCM_SHA256);
    let flight = [server.certificate_of(&[&even]), server.done()];
    assert_refused("an even exponent", &mut client, &handshake(&flight), "RSA key exchange with a key that is malformed");
    assert_eq!(alert_of(&mut client).as_deref(), Some("handshake_failure"));
}

#[test]
fn a_change_cipher_spec_out_of_turn() {
    let unexpected = |expected| -> Error {
        Misbehaviour::UnexpectedRecord { received: ContentType::CHANGE_CIPHER_SPEC, expected }.into()
    };
    let mut client = begun(Version::Tls12);
    let _ = client.take_outgoing(NOW);
    assert_eq!(client.receive(NOW, &CHANGE_CIPHER_SPEC), Err(unexpected("ServerHello")));

    // Let pass for the sake of TLS 1.3, and then the server chose TLS 1.2.
    let mut client = begun_with(trusting_client(), FULL);
    let mut server = Server::answering(&mut client);
    client.receive(NOW, &CHANGE_CIPHER_SPEC).unwrap();
    let hello = server.hello();
    assert_eq!(client.receive(NOW, &server.say(&hello)), Err(unexpected("ServerHello")));

    let (mut client, _server) = tls12_greeted(|_| {});
    assert_eq!(client.receive(NOW, &CHANGE_CIPHER_SPEC), Err(unexpected("Certificate")));
}

/// BoGo: `CheckClientCertificateTypes`. The types in a CertificateRequest were not looked at (RFC 5246 §7.4.4).
#[test]
fn a_client_certificate_of_a_type_that_was_not_asked_for() {
    for (certificate_type, expected) in [(1, Err(Error::NoCommonSignatureScheme)), (64, Ok(()))] {
        let identity = std::sync::Arc::new(identity(&crate::server::authority().client("c").unwrap()));
        let config = Config { versions: vec![Version::Tls12], identity: Some(identity), ..trusting_client() };
        let mut client = begun_with(config, FULL);
        let mut server = greeted_with(&mut client, |_| {});
        let mut flight = server.flight();
        // One type, two schemes, no authorities.
        flight.insert(2, message(HandshakeType::CERTIFICATE_REQUEST, &[1, certificate_type, 0, 4, 4, 3, 4, 1, 0, 0]));
        assert_eq!(client.receive(NOW, &handshake(&flight)), expected);
    }
}
