//! TLS 1.3 servers that break a rule, and what the client says of it.

use reprise_engine::{Config, Connection, Error, Misbehaviour, Offer, Unspoken};
use reprise_model::Version;
use reprise_wire::{
    AlertDescription, CipherSuite, ContentType, DOWNGRADE_TLS11, DOWNGRADE_TLS12, ExtensionType, HandshakeType, NamedGroup,
    ProtocolVersion, SignatureScheme,
};

use crate::client::{self, identity, trusting_client};
use crate::script::tls13::{Server, connected, greeted, new_session_ticket, protocols, refusal_of_hello};
use crate::script::{Hello, NOW, alert_of, clear, framed, records};
use crate::server::authority;
use crate::{FULL, begun, begun_with, tickets, tls13_connected, tls13_greeted};
use reprise_engine::CertificateError;

fn both_versions() -> Connection {
    begun_with(trusting_client(), FULL)
}

fn refused(edit: impl FnOnce(&mut Hello)) -> Error {
    refusal_of_hello(&mut begun(Version::Tls13), edit)
}

fn missing(message: &'static str, extension: ExtensionType) -> Error {
    Misbehaviour::MissingExtension { message, extension }.into()
}

// ServerHello.

#[test]
fn a_suite_that_was_not_offered() {
    for suite in [CipherSuite(0x1304), CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, CipherSuite(0x0a0a)] {
        assert_eq!(refused(|hello| hello.suite = suite), Misbehaviour::UnofferedSuite(suite).into());
    }
    // Offered, but for the other version.
    let suite = CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256;
    let error = refusal_of_hello(&mut both_versions(), |hello| hello.suite = suite);
    assert_eq!(error, Misbehaviour::UnofferedSuite(suite).into());
}

#[test]
fn a_session_id_that_is_not_echoed() {
    let error = Error::from(Misbehaviour::SessionIdNotEchoed);
    assert_eq!(refused(|hello| hello.session_id.clear()), error);
    assert_eq!(refused(|hello| hello.session_id[31] ^= 1), error);
    assert_eq!(error.alert(), Some(AlertDescription::ILLEGAL_PARAMETER));
}

#[test]
fn compression() {
    assert_eq!(refused(|hello| hello.compression = 1), Misbehaviour::Compression.into());
}

#[test]
fn a_version_that_was_not_offered() {
    for version in [0x0303, 0x0305, 0x7f1c] {
        let error = refused(|hello| hello.set(ExtensionType::SUPPORTED_VERSIONS, &u16::to_be_bytes(version)));
        assert_eq!(error, Misbehaviour::UnofferedVersion(ProtocolVersion(version)).into());
    }
    let error = refused(|hello| hello.remove(ExtensionType::SUPPORTED_VERSIONS));
    assert_eq!(error, Misbehaviour::UnofferedVersion(ProtocolVersion::TLS_1_2).into());
    // TLS 1.3 in the old field is no TLS 1.3 (RFC 9846 §4.3.1).
    let error = refused(|hello| {
        hello.remove(ExtensionType::SUPPORTED_VERSIONS);
        hello.legacy_version = ProtocolVersion::TLS_1_3;
    });
    assert_eq!(error, Misbehaviour::UnofferedVersion(ProtocolVersion::TLS_1_3).into());
    let error = refused(|hello| hello.legacy_version = ProtocolVersion::TLS_1_0);
    assert_eq!(error, Misbehaviour::IllegalValue("its legacy_version is not TLS 1.2").into());
    let tls13 = refusal_of_hello_of_tls13_to_tls12();
    assert_eq!(tls13, Misbehaviour::UnofferedVersion(ProtocolVersion::TLS_1_3).into());
}

fn refusal_of_hello_of_tls13_to_tls12() -> Error {
    let mut client = begun(Version::Tls12);
    let server = crate::script::tls12::Server::answering(&mut client);
    let mut hello = server.hello();
    hello.set(ExtensionType::SUPPORTED_VERSIONS, &[3, 4]);
    client.receive(NOW, &clear(ContentType::HANDSHAKE, &hello.message())).unwrap_err()
}

#[test]
fn an_old_version_is_named_as_not_spoken() {
    for version in [ProtocolVersion::SSL_3_0, ProtocolVersion::TLS_1_0, ProtocolVersion::TLS_1_1] {
        let error = refused(|hello| {
            hello.remove(ExtensionType::SUPPORTED_VERSIONS);
            hello.legacy_version = version;
        });
        assert_eq!(error, Error::Unspoken(Unspoken::Version(version)));
        assert_eq!(error.alert(), Some(AlertDescription::PROTOCOL_VERSION));
        assert!(error.to_string().contains(&version.to_string()), "{error}");
    }
}

#[test]
fn a_downgrade_that_the_random_betrays() {
    for sentinel in [DOWNGRADE_TLS12, DOWNGRADE_TLS11] {
        let mut client = both_versions();
        let server = crate::script::tls12::Server::answering(&mut client);
        let mut hello = server.hello();
        hello.random[24..].copy_from_slice(&sentinel);
        let error = client.receive(NOW, &clear(ContentType::HANDSHAKE, &hello.message())).unwrap_err();
        assert_eq!(error, Misbehaviour::Downgraded.into());
        assert_eq!(alert_of(&mut client).as_deref(), Some("illegal_parameter"));
    }
}

#[test]
fn a_group_of_which_no_share_was_sent() {
    let share = |group: NamedGroup| [&group.0.to_be_bytes()[..], &[0, 2, 4, 4]].concat();
    for group in [NamedGroup::SECP256R1, NamedGroup::X448] {
        let error = refused(|hello| hello.set(ExtensionType::KEY_SHARE, &share(group)));
        assert_eq!(error, Misbehaviour::UnofferedGroup(group).into());
    }
}

#[test]
fn a_key_share_that_is_no_point() {
    let x25519 = |public: &[u8]| [&[0, 29, 0, public.len() as u8], public].concat();
    for public in [&[0; 32][..], &[9; 31], &[9; 33]] {
        let error = refused(|hello| hello.set(ExtensionType::KEY_SHARE, &x25519(public)));
        assert_eq!(error, Misbehaviour::IllegalKeyShare.into());
    }

    let valid = reprise_engine::KeyShare::public(&crate::script::share(NamedGroup::SECP256R1)).to_vec();
    let compressed = [&[2 + (valid[64] & 1)], &valid[1..33]].concat();
    let hybrid = [&[6 + (valid[64] & 1)], &valid[1..]].concat();
    let mut off_curve = valid.clone();
    off_curve[64] ^= 1;
    for public in [compressed, hybrid, off_curve, vec![0], valid[..64].to_vec()] {
        let mut client = begun_with(
            Config { versions: vec![Version::Tls13], groups: vec![NamedGroup::SECP256R1], ..trusting_client() },
            FULL,
        );
        let share = [&[0, 23, 0, public.len() as u8], &public[..]].concat();
        let error = refusal_of_hello(&mut client, |hello| hello.set(ExtensionType::KEY_SHARE, &share));
        assert_eq!(error, Misbehaviour::IllegalKeyShare.into(), "{public:02x?}");
    }
}

#[test]
fn no_key_share() {
    let error = refused(|hello| hello.remove(ExtensionType::KEY_SHARE));
    assert_eq!(error, missing("ServerHello", ExtensionType::KEY_SHARE));
    assert_eq!(error.alert(), Some(AlertDescription::MISSING_EXTENSION));
}

#[test]
fn an_extension_that_was_not_offered_or_has_no_place_there() {
    for extension in [ExtensionType::PRE_SHARED_KEY, ExtensionType::COOKIE, ExtensionType(0xfafa)] {
        let error = refused(|hello| hello.set(extension, &[0, 0]));
        assert_eq!(error, Misbehaviour::UnofferedExtension(extension).into());
        assert_eq!(error.alert(), Some(AlertDescription::UNSUPPORTED_EXTENSION));
    }
    let extension = ExtensionType::SUPPORTED_GROUPS;
    let error = refused(|hello| hello.set(extension, &[0, 2, 0, 29]));
    assert_eq!(error, Misbehaviour::MisplacedExtension { message: "ServerHello", extension }.into());
    assert_eq!(error.alert(), Some(AlertDescription::ILLEGAL_PARAMETER));
}

#[test]
fn an_extension_twice() {
    let error = refused(|hello| hello.extensions.push((ExtensionType::SUPPORTED_VERSIONS, vec![3, 4])));
    let twice = reprise_wire::Error::DuplicateExtension(ExtensionType::SUPPORTED_VERSIONS);
    assert_eq!(error, Error::Malformed { message: "ServerHello", error: twice });
    assert_eq!(error.alert(), Some(AlertDescription::ILLEGAL_PARAMETER));
}

#[test]
fn a_psk_that_was_not_offered() {
    let ticket = {
        let (mut client, mut server) = tls13_connected();
        let ticket = new_session_ticket(&[1], b"ticket");
        client.receive(NOW, &server.record(ContentType::HANDSHAKE, &ticket)).unwrap();
        tickets(client.take_sessions()).pop().unwrap()
    };
    let offering =
        || begun_with(Config { versions: vec![Version::Tls13], ..trusting_client() }, Offer::Ticket(ticket.clone()));
    let select = |index: u16| move |hello: &mut Hello| hello.set(ExtensionType::PRE_SHARED_KEY, &index.to_be_bytes());
    assert_eq!(refusal_of_hello(&mut offering(), select(1)), Misbehaviour::IllegalPsk.into());
    // Its hash is not that of the ticket's suite.
    let error = refusal_of_hello(&mut offering(), |hello| {
        hello.suite = CipherSuite::TLS_AES_256_GCM_SHA384;
        select(0)(hello);
    });
    assert_eq!(error, Misbehaviour::PskOfAnotherHash(CipherSuite::TLS_AES_256_GCM_SHA384).into());

    // Another suite of the same hash is as good (RFC 9846 §4.3.11).
    let mut client = offering();
    let mut server = Server::answering(&mut client).under(CipherSuite::TLS_CHACHA20_POLY1305_SHA256).resuming(&ticket);
    server.complete(&mut client);
    assert!(client.ready().is_some());
}

#[test]
fn a_bad_binders_ticket_is_ignored_but_its_finished_is_not() {
    // A server that says it took the PSK and did not: nothing decrypts.
    let mut first = begun(Version::Tls13);
    let mut server = connected(&mut first);
    let ticket = new_session_ticket(&[1], b"ticket");
    first.receive(NOW, &server.record(ContentType::HANDSHAKE, &ticket)).unwrap();
    let ticket = tickets(first.take_sessions()).pop().unwrap();
    let config = Config { versions: vec![Version::Tls13], ..trusting_client() };
    let mut client = begun_with(config, Offer::Ticket(ticket));
    let mut server = Server::answering(&mut client);
    let mut hello = server.hello();
    hello.set(ExtensionType::PRE_SHARED_KEY, &[0, 0]);
    client.receive(NOW, &server.say(&hello)).unwrap();
    let message = server.encrypted_extensions(&[]);
    assert_eq!(client.receive(NOW, &server.handshake(&[message])), Err(Error::BadRecordMac));
}

// The encrypted flight.

/// What the client makes of a flight that begins with these messages.
fn refused_flight(say: impl FnOnce(&mut Server) -> Vec<Vec<u8>>) -> Error {
    let (mut client, mut server) = tls13_greeted();
    let flight = say(&mut server);
    let error = client.receive(NOW, &server.handshake(&flight)).unwrap_err();
    assert!(client.ready().is_none());
    // It is told, under the handshake keys, and the connection is over.
    let told = client.take_outgoing(NOW);
    let alert = vec![2, error.alert().unwrap().0];
    assert_eq!(server.open(&told), [(ContentType::ALERT, alert)]);
    assert_eq!(client.receive(NOW, &[]), Err(Error::Closed));
    error
}

#[test]
fn encrypted_extensions_that_answer_what_was_not_asked() {
    let alpn = ExtensionType::ALPN;
    let error = refused_flight(|server| vec![server.encrypted_extensions(&[(alpn, protocols(&[b"h2"]))])]);
    assert_eq!(error, Misbehaviour::UnofferedExtension(alpn).into());
    let extension = ExtensionType::KEY_SHARE;
    let error = refused_flight(|server| vec![server.encrypted_extensions(&[(extension, vec![0, 29])])]);
    assert_eq!(error, Misbehaviour::MisplacedExtension { message: "EncryptedExtensions", extension }.into());
    let error = refused_flight(|server| vec![server.encrypted_extensions(&[(ExtensionType::SERVER_NAME, vec![1])])]);
    assert!(matches!(error, Error::Malformed { message: "server_name", .. }), "{error}");
}

#[test]
fn a_protocol_that_was_not_offered() {
    let refused = |names: &[&[u8]]| {
        let alpn = vec![b"http/1.1".to_vec()];
        let mut client = begun_with(Config { versions: vec![Version::Tls13], alpn, ..trusting_client() }, FULL);
        let mut server = greeted(&mut client);
        let message = server.encrypted_extensions(&[(ExtensionType::ALPN, protocols(names))]);
        client.receive(NOW, &server.handshake(&[message]))
    };
    assert_eq!(refused(&[b"h2"]), Err(Misbehaviour::UnofferedProtocol.into()));
    assert!(matches!(refused(&[b"http/1.1", b"h2"]), Err(Error::Malformed { .. })));
    assert!(matches!(refused(&[]), Err(Error::Malformed { .. })));
    assert_eq!(refused(&[b"http/1.1"]), Ok(()));
}

#[test]
fn certificates_that_are_none() {
    let begin = |server: &mut Server| server.encrypted_extensions(&[]);
    let error = refused_flight(|server| vec![begin(server), server.certificate_with(&[], &[], &[])]);
    assert_eq!(error, CertificateError::Empty.into());
    let error = refused_flight(|server| vec![begin(server), server.certificate_with(&[1], &[b"der"], &[])]);
    assert_eq!(error, Misbehaviour::IllegalValue("the context of its Certificate is not empty").into());
    let extension = ExtensionType::STATUS_REQUEST;
    let staple = [(extension, vec![1, 0, 0, 1, 0])];
    let error = refused_flight(|server| vec![begin(server), server.certificate_with(&[], &[b"der"], &staple)]);
    assert_eq!(error, Misbehaviour::UnofferedExtension(extension).into());
}

#[test]
fn an_unreadable_certificate_is_unverified_only_on_request() {
    use reprise_model::Verification;
    let (mut client, mut server) = tls13_greeted();
    let mut flight = vec![server.encrypted_extensions(&[]), server.certificate_with(&[], &[b"no certificate"], &[])];
    flight.extend([server.certificate_verify(), server.finished()]);
    client.receive(NOW, &server.handshake(&flight)).unwrap();
    assert_eq!(client.outcome().unwrap().verification, Verification::SignatureUnverified);
    assert_eq!(client.outcome().unwrap().peer_key, None);

    let mut client = begun_with(Config { versions: vec![Version::Tls13], ..client::client(authority()) }, FULL);
    let mut server = greeted(&mut client);
    let flight = [server.encrypted_extensions(&[]), server.certificate_with(&[], &[b"no certificate"], &[])];
    let error = client.receive(NOW, &server.handshake(&flight)).unwrap_err();
    assert!(matches!(error, Error::Certificate(CertificateError::Other(_))), "{error}");
}

#[test]
fn a_signature_that_is_wrong() {
    let error = refused_flight(|server| {
        let begin = [server.encrypted_extensions(&[]), server.certificate()];
        let spoil = |signature: &mut Vec<u8>| *signature.last_mut().unwrap() ^= 1;
        let verify = server.certificate_verify_as(SignatureScheme::ECDSA_SECP256R1_SHA256, spoil);
        begin.into_iter().chain([verify]).collect()
    });
    assert_eq!(error, Misbehaviour::BadSignature.into());
    assert_eq!(error.alert(), Some(AlertDescription::DECRYPT_ERROR));
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
        let error = refused_flight(|server| {
            let begin = [server.encrypted_extensions(&[]), server.certificate()];
            begin.into_iter().chain([server.certificate_verify_as(scheme, |_| {})]).collect()
        });
        assert_eq!(error, Misbehaviour::UnofferedScheme(scheme).into());
    }
}

#[test]
fn a_finished_that_is_wrong() {
    for spoil in
        [|body: &mut Vec<u8>| body[0] ^= 1, |body: &mut Vec<u8>| body.truncate(31), |body: &mut Vec<u8>| body.clear()]
    {
        let error = refused_flight(|server| {
            let mut flight = server.flight();
            let mut verify_data = flight.pop().unwrap()[4..].to_vec();
            spoil(&mut verify_data);
            flight.push(framed(HandshakeType::FINISHED, |out| out.extend_from_slice(&verify_data)));
            flight
        });
        assert_eq!(error, Misbehaviour::BadFinished.into());
    }
}

#[test]
fn messages_out_of_turn() {
    use HandshakeType as H;
    let unexpected = |received, expected| Error::from(Misbehaviour::UnexpectedMessage { received, expected });
    let error = refused_flight(|server| vec![server.certificate()]);
    assert_eq!(error, unexpected(H::CERTIFICATE, "EncryptedExtensions"));
    let error = refused_flight(|server| vec![server.encrypted_extensions(&[]), server.finished()]);
    assert_eq!(error, unexpected(H::FINISHED, "Certificate"));
    let error = refused_flight(|server| vec![server.encrypted_extensions(&[]), server.certificate(), server.finished()]);
    assert_eq!(error, unexpected(H::FINISHED, "CertificateVerify"));
    let error = refused_flight(|server| {
        let mut flight = server.flight();
        flight.insert(1, framed(H::COMPRESSED_CERTIFICATE, |out| out.push(0)));
        flight
    });
    assert_eq!(error, unexpected(H::COMPRESSED_CERTIFICATE, "Certificate"));
    let schemes = [(ExtensionType::SIGNATURE_ALGORITHMS, vec![0, 2, 4, 3])];
    let error = refused_flight(|server| {
        let begin = server.encrypted_extensions(&[]);
        vec![begin, server.certificate_request(&schemes), server.certificate_request(&schemes)]
    });
    assert_eq!(error, unexpected(H::CERTIFICATE_REQUEST, "Certificate"));

    let mut client = begun(Version::Tls13);
    let server = Server::answering(&mut client);
    let echo = clear(ContentType::HANDSHAKE, &server.heard.message);
    assert_eq!(client.receive(NOW, &echo), Err(unexpected(H::CLIENT_HELLO, "ServerHello")));
    assert_eq!(crate::pair::story(&client.events()[1]), "< ClientHello");
}

#[test]
fn a_request_for_a_certificate_that_cannot_be_answered() {
    let error = refused_flight(|server| vec![server.encrypted_extensions(&[]), server.certificate_request(&[])]);
    assert_eq!(error, missing("CertificateRequest", ExtensionType::SIGNATURE_ALGORITHMS));

    let certificate = authority().client("client.example").unwrap();
    let config =
        Config { versions: vec![Version::Tls13], identity: Some(identity(&certificate).into()), ..trusting_client() };
    let mut client = begun_with(config, FULL);
    let mut server = greeted(&mut client);
    let only_ed25519 = [(ExtensionType::SIGNATURE_ALGORITHMS, vec![0, 2, 8, 7])];
    let flight = [server.encrypted_extensions(&[]), server.certificate_request(&only_ed25519)];
    let error = client.receive(NOW, &server.handshake(&flight)).unwrap_err();
    assert_eq!(error, Error::NoCommonSignatureScheme);
}

// After the handshake.

#[test]
fn messages_that_have_no_place_after_the_handshake() {
    for message in [HandshakeType::CERTIFICATE_REQUEST, HandshakeType::FINISHED, HandshakeType::HELLO_REQUEST] {
        let (mut client, mut server) = tls13_connected();
        let record = server.record(ContentType::HANDSHAKE, &framed(message, |_| {}));
        let error = Misbehaviour::UnexpectedMessage { received: message, expected: "application data" };
        assert_eq!(client.receive(NOW, &record), Err(error.into()));
        assert_eq!(alert_of(&mut client).as_deref(), Some("unexpected_message"));
    }
}

#[test]
fn a_ticket_that_is_none() {
    let (mut client, mut server) = tls13_connected();
    let record = server.record(ContentType::HANDSHAKE, &new_session_ticket(&[], b""));
    let error = Error::Malformed { message: "NewSessionTicket", error: reprise_wire::Error::BadLength };
    assert_eq!(client.receive(NOW, &record), Err(error));
    assert!(client.take_sessions().is_empty());
}

#[test]
fn a_refusal_after_the_handshake_is_named() {
    let (mut client, mut server) = tls13_connected();
    assert!(client.ready().is_some());
    let alert = server.record(ContentType::ALERT, &[2, AlertDescription::CERTIFICATE_REQUIRED.0]);
    assert_eq!(client.receive(NOW, &alert), Err(Error::AlertReceived(AlertDescription::CERTIFICATE_REQUIRED)));
    assert!(!client.is_confirmed());
    // A fatal alert is not answered.
    assert_eq!(alert_of(&mut client), None);
}

#[test]
fn every_alert_is_named() {
    for &description in AlertDescription::NAMED {
        if [AlertDescription::USER_CANCELED].contains(&description) {
            continue;
        }
        let mut client = begun(Version::Tls13);
        let _ = client.take_outgoing(NOW);
        let error = client.receive(NOW, &clear(ContentType::ALERT, &[2, description.0])).unwrap_err();
        assert_eq!(error, Error::AlertReceived(description));
        assert!(error.to_string().contains(description.name().unwrap()), "{error}");
        assert_eq!(client.events().last().map(|event| event.what.name()), description.name());
    }
}

/// BoGo: every refusal between ServerHello and Finished, `BadFinished-Client-TLS13`. A middlebox that takes the connection
/// for TLS 1.2 must not see a protected record before a ChangeCipherSpec (RFC 9846 §E.4).
#[test]
fn a_handshake_alert_without_change_cipher_spec_is_read() {
    let (mut client, mut server) = tls13_greeted();
    let unexpected = framed(HandshakeType::SERVER_HELLO_DONE, |_| {});
    client.receive(NOW, &server.handshake(&[unexpected])).unwrap_err();
    let types: Vec<_> = records(&client.take_outgoing(NOW)).into_iter().map(|(content_type, _)| content_type).collect();
    assert_eq!(types, [ContentType::CHANGE_CIPHER_SPEC, ContentType::APPLICATION_DATA]);
}

/// BoGo: `RejectEmptyCertificateAuthorities-Client-TLS-TLS13`. The extension was not read at all.
#[test]
fn certificate_authorities_that_are_empty() {
    let (mut client, mut server) = tls13_greeted();
    let request =
        [(ExtensionType::SIGNATURE_ALGORITHMS, vec![0, 2, 4, 3]), (ExtensionType::CERTIFICATE_AUTHORITIES, vec![0, 0])];
    let flight = [server.encrypted_extensions(&[]), server.certificate_request(&request)];
    let error = client.receive(NOW, &server.handshake(&flight)).unwrap_err();
    assert!(matches!(error, Error::Malformed { message: "certificate_authorities", .. }), "{error:?}");
    assert_eq!(alert_of(&mut client).as_deref(), Some("decode_error"));
}

/// BoGo: `GarbageCertificate-Client-TLS13`. It was called a certificate with an unsupported key.
#[test]
fn a_certificate_that_is_none() {
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
    let certificates = reprise_engine::CertificatePolicy::Verify(std::sync::Arc::new(Anything));
    let mut client = begun_with(Config { certificates, ..trusting_client() }, FULL);
    let mut server = greeted(&mut client);
    let flight =
        [server.encrypted_extensions(&[]), server.certificate_with(&[], &[b"garbage"], &[]), server.certificate_verify()];
    assert_eq!(client.receive(NOW, &server.handshake(&flight)), Err(CertificateError::Unreadable.into()));
    assert_eq!(alert_of(&mut client).as_deref(), Some("decode_error"));
}
