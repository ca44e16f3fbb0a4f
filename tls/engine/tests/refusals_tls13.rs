//! TLS 1.3 servers that break a rule after their ServerHello.

use reprise_engine::{CertificateError, Config, Error, Misbehaviour};
use reprise_model::{Verification, Version};
use reprise_wire::{AlertDescription, ContentType, ExtensionType as E, HandshakeType, SignatureScheme};

use crate::client::{self, trusting_client};
use crate::refusals::assert_refused;
use crate::script::tls13::{Server, greeted, protocols};
use crate::script::{NOW, alert_of, clear, framed, records};
use crate::server::authority;
use crate::{FULL, begun, begun_with, tls13_greeted};

/// A server by what it does, its flight, and what the user reads of it.
type FlightCase = (&'static str, fn(&mut Server) -> Vec<Vec<u8>>, &'static str);

/// The extension that a CertificateRequest must have.
fn schemes() -> (E, Vec<u8>) {
    (E::SIGNATURE_ALGORITHMS, vec![0, 2, 4, 3])
}

fn begin(server: &mut Server) -> Vec<u8> {
    server.encrypted_extensions(&[])
}

fn begin_with(server: &mut Server, extension: E, data: &[u8]) -> Vec<Vec<u8>> {
    vec![server.encrypted_extensions(&[(extension, data.to_vec())])]
}

#[test]
fn a_flight_against_the_rules() {
    let cases: &[FlightCase] = &[
        ("a protocol unasked", |server| begin_with(server, E::ALPN, &protocols(&[b"h2"])), "that was not offered"),
        ("a key share too late", |server| begin_with(server, E::KEY_SHARE, &[0, 29]), "key_share, which has no place there"),
        ("words in server_name", |server| begin_with(server, E::SERVER_NAME, &[1]), "server_name cannot be read"),
        (
            "an empty chain",
            |server| vec![begin(server), server.certificate_with(&[], &[], &[])],
            "the server sent no certificate",
        ),
        (
            "a certificate in a context",
            |server| vec![begin(server), server.certificate_with(&[1], &[b"der"], &[])],
            "the context of its Certificate is not empty",
        ),
        (
            "a staple unasked",
            |server| {
                let staple = [(E::STATUS_REQUEST, vec![1, 0, 0, 1, 0])];
                vec![begin(server), server.certificate_with(&[], &[b"der"], &staple)]
            },
            "an extension that was not offered: status_request",
        ),
        (
            "a wrong signature",
            |server| {
                let begin = [begin(server), server.certificate()];
                let spoil = |signature: &mut Vec<u8>| *signature.last_mut().unwrap() ^= 1;
                let verify = server.certificate_verify_as(SignatureScheme::ECDSA_SECP256R1_SHA256, spoil);
                begin.into_iter().chain([verify]).collect()
            },
            "its signature over the handshake is wrong",
        ),
        (
            "two requests",
            |server| vec![begin(server), server.certificate_request(&[schemes()]), server.certificate_request(&[schemes()])],
            "CertificateRequest where Certificate was due",
        ),
        (
            "a request without schemes",
            |server| vec![begin(server), server.certificate_request(&[])],
            "its CertificateRequest lacks the extension signature_algorithms",
        ),
        // BoGo: `RejectEmptyCertificateAuthorities-Client-TLS-TLS13`. The extension was not read at all.
        (
            "a request of no authorities",
            |server| {
                let request = [schemes(), (E::CERTIFICATE_AUTHORITIES, vec![0, 0])];
                vec![begin(server), server.certificate_request(&request)]
            },
            "certificate_authorities cannot be read",
        ),
    ];
    for (what, say, words) in cases {
        let (mut client, mut server) = tls13_greeted();
        let flight = say(&mut server);
        assert_refused(what, &mut client, &server.handshake(&flight), words);
    }
}

#[test]
fn a_scheme_that_was_not_offered_or_does_not_fit_the_key() {
    let schemes = [
        SignatureScheme::ECDSA_SHA1,
        SignatureScheme::ECDSA_SECP521R1_SHA512,
        // Offered, for other keys and for certificates.
        SignatureScheme::ECDSA_SECP384R1_SHA384,
        SignatureScheme::ED25519,
        SignatureScheme::RSA_PSS_RSAE_SHA256,
        SignatureScheme::RSA_PKCS1_SHA256,
    ];
    for scheme in schemes {
        let (mut client, mut server) = tls13_greeted();
        let flight = [begin(&mut server), server.certificate(), server.certificate_verify_as(scheme, |_| {})];
        assert_refused(&scheme.to_string(), &mut client, &server.handshake(&flight), &format!("signed with {scheme}"));
    }
}

#[test]
fn an_alert_for_a_handshake_is_read_by_the_server() {
    let (mut client, mut server) = tls13_greeted();
    let unexpected = framed(HandshakeType::SERVER_HELLO_DONE, |_| {});
    client.receive(NOW, &server.handshake(&[unexpected])).unwrap_err();
    let told = client.take_outgoing(NOW);
    assert_eq!(server.open(&told), [(ContentType::ALERT, vec![2, AlertDescription::UNEXPECTED_MESSAGE.0])]);
    // BoGo: every refusal between ServerHello and Finished, `BadFinished-Client-TLS13`. A middlebox that takes the connection
    // for TLS 1.2 must not see a protected record before a ChangeCipherSpec (RFC 9846 §E.4).
    let types: Vec<_> = records(&told).into_iter().map(|(content_type, _)| content_type).collect();
    assert_eq!(types, [ContentType::CHANGE_CIPHER_SPEC, ContentType::APPLICATION_DATA]);
}

#[test]
fn a_protocol_that_was_not_offered() {
    let answered = |names: &[&[u8]]| {
        let alpn = vec![b"http/1.1".to_vec()];
        let mut client = begun_with(Config { versions: vec![Version::Tls13], alpn, ..trusting_client() }, FULL);
        let mut server = greeted(&mut client);
        let message = server.encrypted_extensions(&[(E::ALPN, protocols(names))]);
        client.receive(NOW, &server.handshake(&[message]))
    };
    assert_eq!(answered(&[b"h2"]), Err(Misbehaviour::UnofferedProtocol.into()));
    assert!(matches!(answered(&[b"http/1.1", b"h2"]), Err(Error::Malformed { .. })));
    assert!(matches!(answered(&[]), Err(Error::Malformed { .. })));
    assert_eq!(answered(&[b"http/1.1"]), Ok(()));
}

#[test]
fn an_unreadable_certificate_is_unverified_only_on_request() {
    let unreadable = |server: &mut Server| {
        let begin = [begin(server), server.certificate_with(&[], &[b"no certificate"], &[])];
        begin.into_iter().chain([server.certificate_verify(), server.finished()]).collect::<Vec<_>>()
    };
    let (mut client, mut server) = tls13_greeted();
    let flight = unreadable(&mut server);
    client.receive(NOW, &server.handshake(&flight)).unwrap();
    assert_eq!(client.outcome().unwrap().verification, Verification::SignatureUnverified);
    assert_eq!(client.outcome().unwrap().peer_key, None);

    let mut client = begun_with(Config { versions: vec![Version::Tls13], ..client::client(authority()) }, FULL);
    let mut server = greeted(&mut client);
    let flight = unreadable(&mut server);
    let error = client.receive(NOW, &server.handshake(&flight)).unwrap_err();
    assert!(matches!(error, Error::Certificate(CertificateError::Other(_))), "{error}");

    // BoGo: `GarbageCertificate-Client-TLS13`. It was called a certificate with an unsupported key.
    let certificates = reprise_engine::CertificatePolicy::Verify(std::sync::Arc::new(Anything));
    let mut client = begun_with(Config { certificates, ..trusting_client() }, FULL);
    let mut server = greeted(&mut client);
    let flight = unreadable(&mut server);
    assert_eq!(client.receive(NOW, &server.handshake(&flight)), Err(CertificateError::Unreadable.into()));
    assert_eq!(alert_of(&mut client).as_deref(), Some("decode_error"));
}

/// Judges no chain.
struct Anything;

impl reprise_engine::ChainVerifier for Anything {
    fn verify(
        &self,
        _: &[rustls_pki_types::CertificateDer<'_>],
        _: &rustls_pki_types::ServerName<'_>,
        _: rustls_pki_types::UnixTime,
    ) -> Result<(), CertificateError> {
        Ok(())
    }
}

#[test]
fn an_echo_of_the_client_hello_is_told_by_its_name() {
    let mut client = begun(Version::Tls13);
    let server = Server::answering(&mut client);
    let echo = clear(ContentType::HANDSHAKE, &server.heard.message);
    assert_refused("an echo", &mut client, &echo, "ClientHello where ServerHello was due");
    assert_eq!(crate::pair::story(&client.events()[1]), "< ClientHello");
}

#[test]
fn every_alert_is_named_and_not_answered() {
    for &description in AlertDescription::NAMED {
        if description == AlertDescription::USER_CANCELED {
            continue;
        }
        let mut client = begun(Version::Tls13);
        let _ = client.take_outgoing(NOW);
        let error = client.receive(NOW, &clear(ContentType::ALERT, &[2, description.0])).unwrap_err();
        assert_eq!(error, Error::AlertReceived(description));
        assert!(error.to_string().contains(description.name().unwrap()), "{error}");
        assert_eq!(client.events().last().map(|event| event.what.name()), description.name());
        assert_eq!(alert_of(&mut client), None);
    }
}
