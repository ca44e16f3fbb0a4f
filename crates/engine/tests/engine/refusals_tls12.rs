//! TLS 1.2 servers that break a rule, and what the client says of it.

use reprise_engine::{CertificateError, Config, Connection, Error, Misbehaviour, Offer, Tls12Session, Unspoken};
use reprise_lab::KeyKind;
use reprise_model::Version;
use reprise_wire::{AlertDescription, CipherSuite, ContentType, ExtensionType, HandshakeType, NamedGroup, SignatureScheme};

use crate::client::{identity, trusting_client};
use crate::script::tls12::{CHANGE_CIPHER_SPEC, Server, greeted_with, handshake};
use crate::script::{Hello, NOW, alert_of, clear, framed};
use crate::server::certificate;
use crate::{FULL, begun, begun_with, session, tls12_connected, tls12_greeted, tls12_half_done};

fn refused(edit: impl FnOnce(&mut Hello)) -> Error {
    refused_by(&mut begun(Version::Tls12), edit)
}

fn refused_by(client: &mut Connection, edit: impl FnOnce(&mut Hello)) -> Error {
    let mut server = Server::answering(client);
    let mut hello = server.hello();
    edit(&mut hello);
    client.receive(NOW, &server.say(&hello)).unwrap_err()
}

fn unexpected_message(received: HandshakeType, expected: &'static str) -> Error {
    Misbehaviour::UnexpectedMessage { received, expected }.into()
}

fn unexpected_record(received: ContentType, expected: &'static str) -> Error {
    Misbehaviour::UnexpectedRecord { received, expected }.into()
}

// ServerHello.

#[test]
fn a_suite_that_was_not_offered() {
    let suites = [
        CipherSuite::TLS_RSA_WITH_AES_128_CBC_SHA,
        CipherSuite::TLS_DHE_RSA_WITH_AES_128_GCM_SHA256,
        CipherSuite::TLS_AES_128_GCM_SHA256,
    ];
    for suite in suites {
        assert_eq!(refused(|hello| hello.suite = suite), Misbehaviour::UnofferedSuite(suite).into());
    }
    let suite = CipherSuite::TLS_AES_128_GCM_SHA256;
    let error = refused_by(&mut begun_with(trusting_client(), FULL), |hello| hello.suite = suite);
    assert_eq!(error, Misbehaviour::UnofferedSuite(suite).into());
}

#[test]
fn an_extension_that_was_not_offered_or_has_no_place_there() {
    for extension in [ExtensionType::STATUS_REQUEST, ExtensionType::ALPN, ExtensionType::KEY_SHARE] {
        let error = refused(|hello| hello.set(extension, &[]));
        assert_eq!(error, Misbehaviour::UnofferedExtension(extension).into());
    }
    let mut unasked =
        begun_with(Config { versions: vec![Version::Tls12], ..trusting_client() }, Offer::Full { session_ticket: false });
    let extension = ExtensionType::SESSION_TICKET;
    let error = refused_by(&mut unasked, |hello| hello.set(extension, &[]));
    assert_eq!(error, Misbehaviour::UnofferedExtension(extension).into());
    let extension = ExtensionType::KEY_SHARE;
    let error = refused_by(&mut begun_with(trusting_client(), FULL), |hello| hello.set(extension, &[]));
    assert_eq!(error, Misbehaviour::MisplacedExtension { message: "ServerHello", extension }.into());
}

#[test]
fn a_renegotiation_that_is_none() {
    let error = refused(|hello| hello.set(ExtensionType::RENEGOTIATION_INFO, &[1, 7]));
    assert_eq!(error, Misbehaviour::RenegotiationInfo.into());
    assert_eq!(error.alert(), Some(AlertDescription::HANDSHAKE_FAILURE));
}

#[test]
fn compression() {
    assert_eq!(refused(|hello| hello.compression = 1), Misbehaviour::Compression.into());
}

#[test]
fn an_echo_of_a_random_id_resumes_nothing() {
    let mut client = begun_with(trusting_client(), FULL);
    let mut server = Server::answering(&mut client);
    let hello = Hello { session_id: server.heard.session_id.clone(), ..server.hello() };
    let error = client.receive(NOW, &server.say(&hello)).unwrap_err();
    assert_eq!(error, Misbehaviour::IllegalValue("it resumes a session that was not offered").into());
}

// The session that is resumed.

/// A session with an ID that a scripted server gave.
pub(crate) fn known_session(edit: impl FnOnce(&mut Hello)) -> Tls12Session {
    let (mut client, mut server) = tls12_half_done(|hello| {
        hello.session_id = vec![5; 32];
        edit(hello);
    });
    client.receive(NOW, &server.end()).unwrap();
    session(client.take_sessions())
}

fn offering(offer: Offer) -> Connection {
    begun_with(Config { versions: vec![Version::Tls12], ..trusting_client() }, offer)
}

#[test]
fn a_session_that_resumes_as_another() {
    let offer = || offering(Offer::SessionId(known_session(|_| {})));
    let error = refused_by(&mut offer(), |hello| {
        hello.session_id = vec![5; 32];
        hello.suite = CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384;
    });
    assert_eq!(error, Misbehaviour::ResumedDifferently("cipher suite").into());
    // RFC 7627 §5.3, both ways.
    let error = refused_by(&mut offer(), |hello| {
        hello.session_id = vec![5; 32];
        hello.remove(ExtensionType::EXTENDED_MASTER_SECRET);
    });
    assert_eq!(error, Misbehaviour::ResumedDifferently("derivation of the master secret").into());
    let without = known_session(|hello| hello.remove(ExtensionType::EXTENDED_MASTER_SECRET));
    assert!(!without.extended_master_secret);
    let error = refused_by(&mut offering(Offer::SessionId(without)), |hello| hello.session_id = vec![5; 32]);
    assert_eq!(error, Misbehaviour::ResumedDifferently("derivation of the master secret").into());
}

#[test]
fn an_abbreviated_handshake_under_another_secret() {
    let known = known_session(|_| {});
    let mut client = offering(Offer::SessionId(known.clone()));
    let mut server = greeted_with(&mut client, |hello| hello.session_id = vec![5; 32]);
    server.resume(known.master_secret);
    let _ = server.finished();
    let wrong = framed(HandshakeType::FINISHED, |out| out.extend_from_slice(&[1; 12]));
    let records = [&CHANGE_CIPHER_SPEC[..], &server.record(ContentType::HANDSHAKE, &wrong)].concat();
    assert_eq!(client.receive(NOW, &records), Err(Misbehaviour::BadFinished.into()));
    assert!(client.ready().is_none() && client.take_sessions().is_empty());
}

// Certificate to ServerHelloDone.

fn refused_flight(say: impl FnOnce(&mut Server) -> Vec<Vec<u8>>) -> Error {
    let (mut client, mut server) = tls12_greeted(|_| {});
    let flight = say(&mut server);
    let error = client.receive(NOW, &handshake(&flight)).unwrap_err();
    assert!(client.ready().is_none());
    assert_eq!(alert_of(&mut client).as_deref(), error.alert().and_then(AlertDescription::name));
    error
}

#[test]
fn a_certificate_that_does_not_fit_the_suite() {
    let error = refused_flight(|server| vec![server.certificate(KeyKind::Rsa2048)]);
    assert_eq!(error, Misbehaviour::UnfitCertificate.into());
    for suite in [CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, CipherSuite::TLS_RSA_WITH_AES_128_GCM_SHA256] {
        let (mut client, mut server) = tls12_greeted(|hello| hello.suite = suite);
        let error = client.receive(NOW, &handshake(&[server.certificate(KeyKind::P256)])).unwrap_err();
        assert_eq!(error, Misbehaviour::UnfitCertificate.into());
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
    let error = client.receive(NOW, &handshake(&flight)).unwrap_err();
    assert_eq!(error, Error::Unspoken(Unspoken::RsaKey));
    assert_eq!(alert_of(&mut client).as_deref(), Some("handshake_failure"));
}

#[test]
fn no_certificate() {
    let empty = framed(HandshakeType::CERTIFICATE, |out| out.extend_from_slice(&[0, 0, 0]));
    assert_eq!(refused_flight(|_| vec![empty]), CertificateError::Empty.into());
}

#[test]
fn a_group_that_was_not_offered_or_has_no_name() {
    for group in [NamedGroup::SECP521R1, NamedGroup::X448, NamedGroup(0x0a0a)] {
        let error = refused_flight(|server| {
            let certificate = server.certificate(KeyKind::P256);
            server.group = group;
            vec![certificate, server.server_key_exchange_as(&[4; 5], SignatureScheme::ECDSA_SECP256R1_SHA256, |_| {})]
        });
        assert_eq!(error, Misbehaviour::UnofferedGroup(group).into());
    }
    let explicit = framed(HandshakeType::SERVER_KEY_EXCHANGE, |out| out.extend_from_slice(&[1, 0, 29, 1, 0, 8, 4, 0, 0]));
    let error = refused_flight(|server| vec![server.certificate(KeyKind::P256), explicit]);
    assert!(matches!(error, Error::Malformed { message: "ServerKeyExchange", .. }));
    assert_eq!(error.alert(), Some(AlertDescription::ILLEGAL_PARAMETER));
}

#[test]
fn a_signature_that_is_wrong() {
    let error = refused_flight(|server| {
        let certificate = server.certificate(KeyKind::P256);
        let public = reprise_engine::KeyShare::public(&crate::script::share(server.group)).to_vec();
        let spoil = |signature: &mut Vec<u8>| *signature.last_mut().unwrap() ^= 1;
        vec![certificate, server.server_key_exchange_as(&public, SignatureScheme::ECDSA_SECP256R1_SHA256, spoil)]
    });
    assert_eq!(error, Misbehaviour::BadSignature.into());
}

#[test]
fn a_scheme_that_was_not_offered_or_does_not_fit_the_key() {
    for scheme in [SignatureScheme::ECDSA_SHA1, SignatureScheme::RSA_PKCS1_SHA256, SignatureScheme::ED25519] {
        let error = refused_flight(|server| {
            let certificate = server.certificate(KeyKind::P256);
            vec![certificate, server.server_key_exchange_as(&[9; 32], scheme, |_| {})]
        });
        assert_eq!(error, Misbehaviour::UnofferedScheme(scheme).into());
    }
}

#[test]
fn a_key_share_that_is_no_point() {
    for public in [&[0; 32][..], &[9; 31], &[4]] {
        let error = refused_flight(|server| {
            let certificate = server.certificate(KeyKind::P256);
            let exchange = server.server_key_exchange_as(public, SignatureScheme::ECDSA_SECP256R1_SHA256, |_| {});
            vec![certificate, exchange, server.done()]
        });
        assert_eq!(error, Misbehaviour::IllegalKeyShare.into());
    }
}

#[test]
fn messages_out_of_turn() {
    use HandshakeType as H;
    let error = refused_flight(|server| vec![server.server_key_exchange()]);
    assert_eq!(error, unexpected_message(H::SERVER_KEY_EXCHANGE, "Certificate"));
    let error = refused_flight(|server| vec![server.certificate(KeyKind::P256), server.done()]);
    assert_eq!(error, unexpected_message(H::SERVER_HELLO_DONE, "ServerKeyExchange"));
    let error = refused_flight(|server| {
        let exchange = server.server_key_exchange();
        vec![server.certificate(KeyKind::P256), exchange.clone(), exchange]
    });
    // The first of them was signed before the certificate was sent, which is no matter.
    assert_eq!(error, unexpected_message(H::SERVER_KEY_EXCHANGE, "ServerHelloDone"));
    let error = refused_flight(|server| vec![server.certificate(KeyKind::P256), framed(H::CERTIFICATE_STATUS, |_| {})]);
    assert_eq!(error, unexpected_message(H::CERTIFICATE_STATUS, "ServerKeyExchange"));
    let error = refused_flight(|server| {
        vec![
            server.certificate(KeyKind::P256),
            server.server_key_exchange(),
            framed(H::SERVER_HELLO_DONE, |out| out.push(0)),
        ]
    });
    let trailing = reprise_wire::Error::TrailingData;
    assert_eq!(error, Error::Malformed { message: "ServerHelloDone", error: trailing });
}

// ChangeCipherSpec and Finished.

#[test]
fn a_change_cipher_spec_out_of_turn() {
    let mut client = begun(Version::Tls12);
    let _ = client.take_outgoing(NOW);
    let error = unexpected_record(ContentType::CHANGE_CIPHER_SPEC, "ServerHello");
    assert_eq!(client.receive(NOW, &CHANGE_CIPHER_SPEC), Err(error.clone()));

    // Let pass for the sake of TLS 1.3, and then the server chose TLS 1.2.
    let mut client = begun_with(trusting_client(), FULL);
    let mut server = Server::answering(&mut client);
    client.receive(NOW, &CHANGE_CIPHER_SPEC).unwrap();
    let hello = server.hello();
    assert_eq!(client.receive(NOW, &server.say(&hello)), Err(error));

    let (mut client, _server) = tls12_greeted(|_| {});
    let error = unexpected_record(ContentType::CHANGE_CIPHER_SPEC, "Certificate");
    assert_eq!(client.receive(NOW, &CHANGE_CIPHER_SPEC), Err(error));

    let (mut client, mut server) = tls12_half_done(|_| {});
    client.receive(NOW, &CHANGE_CIPHER_SPEC).unwrap();
    let again = server.record(ContentType::CHANGE_CIPHER_SPEC, &[1]);
    let error = unexpected_record(ContentType::CHANGE_CIPHER_SPEC, "Finished");
    assert_eq!(client.receive(NOW, &again), Err(error));
}

#[test]
fn a_change_cipher_spec_that_says_something_else() {
    let (mut client, _server) = tls12_half_done(|_| {});
    let error = client.receive(NOW, &clear(ContentType::CHANGE_CIPHER_SPEC, &[2])).unwrap_err();
    assert!(matches!(error, Error::Malformed { message: "ChangeCipherSpec", .. }));
}

#[test]
fn a_finished_that_is_wrong_or_in_the_clear() {
    let (mut client, mut server) = tls12_half_done(|_| {});
    let finished = server.finished();
    let error = unexpected_message(HandshakeType::FINISHED, "ChangeCipherSpec");
    assert_eq!(client.receive(NOW, &handshake(&[finished])), Err(error));

    for spoil in [|body: &mut Vec<u8>| body[0] ^= 1, |body: &mut Vec<u8>| body.push(0), |body: &mut Vec<u8>| body.clear()] {
        let (mut client, mut server) = tls12_half_done(|_| {});
        let mut verify_data = server.finished()[4..].to_vec();
        spoil(&mut verify_data);
        let finished = framed(HandshakeType::FINISHED, |out| out.extend_from_slice(&verify_data));
        client.receive(NOW, &CHANGE_CIPHER_SPEC).unwrap();
        let record = server.record(ContentType::HANDSHAKE, &finished);
        assert_eq!(client.receive(NOW, &record), Err(Misbehaviour::BadFinished.into()));
    }
}

#[test]
fn a_ticket_that_was_announced_and_does_not_come() {
    let (mut client, mut server) = tls12_half_done(|hello| hello.set(ExtensionType::SESSION_TICKET, &[]));
    let error = unexpected_record(ContentType::CHANGE_CIPHER_SPEC, "NewSessionTicket");
    assert_eq!(client.receive(NOW, &server.end()), Err(error));
}

#[test]
fn a_ticket_that_comes_unannounced() {
    let (mut client, mut server) = tls12_half_done(|_| {});
    let ticket = server.ticket(b"ticket");
    let error = unexpected_message(HandshakeType::NEW_SESSION_TICKET, "ChangeCipherSpec");
    assert_eq!(client.receive(NOW, &handshake(&[ticket])), Err(error));
}

#[test]
fn a_second_ticket() {
    let (mut client, mut server) = tls12_half_done(|hello| hello.set(ExtensionType::SESSION_TICKET, &[]));
    let tickets = [server.ticket(b"one"), server.ticket(b"two")];
    let error = unexpected_message(HandshakeType::NEW_SESSION_TICKET, "ChangeCipherSpec");
    assert_eq!(client.receive(NOW, &handshake(&tickets)), Err(error));
}

#[test]
fn a_server_hello_after_the_handshake() {
    let (mut client, mut server) = tls12_connected();
    let message = server.hello().message();
    let record = server.record(ContentType::HANDSHAKE, &message);
    let error = unexpected_message(HandshakeType::SERVER_HELLO, "application data");
    assert_eq!(client.receive(NOW, &record), Err(error));
}

/// BoGo: `PartialNewSessionTicketWithServerHelloDone`. Our Finished goes under new keys, so what the server says after it
/// may not begin before it (RFC 9846 §5.1 says it of TLS 1.3).
#[test]
fn a_message_that_begins_before_our_flight_and_ends_after_it() {
    let (mut client, mut server) = tls12_greeted(|hello| hello.set(ExtensionType::SESSION_TICKET, &[]));
    let flight = server.flight();
    let ticket_begins = vec![HandshakeType::NEW_SESSION_TICKET.0, 0];
    let error = client.receive(NOW, &handshake(&[flight.concat(), ticket_begins])).unwrap_err();
    assert_eq!(error, Misbehaviour::KeyChangeInsideMessage.into());
}

/// BoGo: `CheckClientCertificateTypes`. The types in a CertificateRequest were not looked at (RFC 5246 §7.4.4).
#[test]
fn a_client_certificate_of_a_type_that_was_not_asked_for() {
    for (certificate_type, fits) in [(1, false), (64, true)] {
        let identity = std::sync::Arc::new(identity(&crate::server::authority().client("c").unwrap()));
        let config = Config { versions: vec![Version::Tls12], identity: Some(identity), ..trusting_client() };
        let mut client = begun_with(config, FULL);
        let mut server = greeted_with(&mut client, |_| {});
        let mut flight = server.flight();
        // One type, two schemes, no authorities.
        let request = framed(HandshakeType::CERTIFICATE_REQUEST, |out| {
            out.extend_from_slice(&[1, certificate_type, 0, 4, 4, 3, 4, 1, 0, 0]);
        });
        flight.insert(2, request);
        let expected = if fits { Ok(()) } else { Err(Error::NoCommonSignatureScheme) };
        assert_eq!(client.receive(NOW, &handshake(&flight)), expected);
    }
}

/// BoGo: `PointFormat-Client-MissingUncompressed`.
#[test]
fn point_formats_without_the_one_in_use() {
    let error = refused(|hello| hello.set(ExtensionType::EC_POINT_FORMATS, &[2, 1, 2]));
    assert_eq!(error, Misbehaviour::IllegalValue("its ec_point_formats lacks uncompressed").into());
    assert_eq!(error.alert(), Some(AlertDescription::ILLEGAL_PARAMETER));
}
