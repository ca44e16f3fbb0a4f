//! Client certificates: asked for, sent, refused, and passed over by a resumption.

use std::sync::OnceLock;

use reprise_engine::{ClientIdentity, Config, Connection, Error, Offer, Session, Signer};
use reprise_lab::{Authority, Identity, KeyKind};
use reprise_model::{ClientAuthentication as Seen, Kind, Version};
use reprise_wire::{AlertDescription, CertificateVerify, ExtensionType, HandshakeType, SignatureScheme};
use rustls::HandshakeKind;

use crate::client::{client, identity, trusting_client};
use crate::pair::{Ended, Pair};
use crate::script::{self, NOW};
use crate::server::{ClientAuthentication, Server, authority};
use crate::{FULL, begun_with};

const VERSIONS: [Version; 2] = [Version::Tls12, Version::Tls13];

fn certificate() -> &'static Identity {
    static CERTIFICATE: OnceLock<Identity> = OnceLock::new();
    CERTIFICATE.get_or_init(|| authority().client("client.example").unwrap())
}

fn with_certificate(version: Version) -> Config {
    Config { versions: vec![version], identity: Some(identity(certificate()).into()), ..client(authority()) }
}

fn without_certificate(version: Version) -> Config {
    Config { versions: vec![version], ..client(authority()) }
}

fn asking(client_authentication: ClientAuthentication) -> rustls::ServerConfig {
    Server { client_authentication, ..Server::with(KeyKind::P256) }.start()
}

#[test]
fn a_certificate_is_sent_when_asked_for() {
    for version in VERSIONS {
        let pair = Pair::completed(with_certificate(version), asking(ClientAuthentication::Required));
        assert_eq!(pair.outcome().client_authentication, Seen::Sent);
        assert_eq!(pair.server.peer_certificates(), Some(certificate().chain()));
        let story = pair.story();
        let sent: Vec<&str> = story.iter().filter(|event| event.starts_with('>')).map(String::as_str).collect();
        match version {
            Version::Tls12 => {
                assert_eq!(story[4], "< CertificateRequest");
                let flight =
                    ["> Certificate", "> ClientKeyExchange", "> CertificateVerify", "> ChangeCipherSpec", "> {Finished}"];
                assert_eq!(sent[1..], flight);
                assert_eq!(pair.round_trips(), 2);
            }
            Version::Tls13 => {
                assert_eq!(story[4], "< {CertificateRequest}");
                let flight = ["> ChangeCipherSpec", "> {Certificate}", "> {CertificateVerify}", "> {Finished}"];
                assert_eq!(sent[1..], flight);
                assert_eq!(pair.round_trips(), 1);
            }
        }
    }
}

#[test]
fn a_certificate_is_not_sent_unasked() {
    for version in VERSIONS {
        let pair = Pair::completed(with_certificate(version), asking(ClientAuthentication::Off));
        assert_eq!(pair.outcome().client_authentication, Seen::NotRequested);
        assert!(!pair.story().iter().any(|event| event.starts_with('>') && event.contains("Certificate")));
    }
}

#[test]
fn who_has_none_sends_an_empty_one() {
    for version in VERSIONS {
        let pair = Pair::completed(without_certificate(version), asking(ClientAuthentication::Optional));
        assert_eq!(pair.outcome().client_authentication, Seen::RequestedNoneSent);
        assert!(pair.server.peer_certificates().is_none());
        assert!(!pair.story().iter().any(|event| event.starts_with('>') && event.contains("CertificateVerify")));
    }
}

#[test]
fn a_server_that_insists_says_so_by_name() {
    for version in VERSIONS {
        let mut pair = Pair::new(without_certificate(version), asking(ClientAuthentication::Required));
        let refused = Ended::ByClient(Error::AlertReceived(AlertDescription::CERTIFICATE_REQUIRED));
        assert_eq!(pair.try_drive(), Err(refused));
        // TLS 1.3: ready, but never confirmed.
        assert_eq!(pair.client.ready().is_some(), version == Version::Tls13);
        assert!(!pair.client.is_confirmed());
        assert_eq!(pair.outcome().client_authentication, Seen::RequestedNoneSent);
    }
}

#[test]
fn a_certificate_of_a_stranger_is_refused_by_name() {
    let stranger = Authority::new().unwrap().client("client.example").unwrap();
    for version in VERSIONS {
        let config = Config { identity: Some(identity(&stranger).into()), ..with_certificate(version) };
        let mut pair = Pair::new(config, asking(ClientAuthentication::Required));
        // Both authorities have one name, so rustls finds a root of that name whose key has not signed.
        let refused = Ended::ByClient(Error::AlertReceived(AlertDescription::DECRYPT_ERROR));
        assert_eq!(pair.try_drive(), Err(refused));
        assert!(!pair.client.is_confirmed());
    }
}

#[test]
fn a_resumption_relies_on_the_certificate_of_the_session() {
    for version in VERSIONS {
        let mut pair = Pair::new(with_certificate(version), asking(ClientAuthentication::Required));
        pair.complete(FULL);
        let offer = match pair.client.take_sessions().pop().unwrap() {
            Session::Tls12(session) => Offer::SessionTicket(session),
            Session::Tls13(ticket) => Offer::Ticket(ticket),
        };
        pair.complete(offer);
        let outcome = pair.outcome();
        assert_eq!((outcome.kind, outcome.client_authentication), (Kind::Ticket, Seen::NotRequested));
        assert_eq!(pair.server.handshake_kind(), Some(HandshakeKind::Resumed));
        assert!(!pair.story().iter().any(|event| event.contains("Certificate")));
        assert_eq!(pair.server.peer_certificates(), Some(certificate().chain()));
    }
}

/// A key that signs, or claims to, in these schemes.
struct Claims(&'static [SignatureScheme]);

impl Signer for Claims {
    fn schemes(&self) -> &[SignatureScheme] {
        self.0
    }

    fn sign(&self, scheme: SignatureScheme, _: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(scheme.0.to_be_bytes().to_vec())
    }
}

#[test]
fn pkcs1_signs_under_tls12_alone() {
    const PKCS1: SignatureScheme = SignatureScheme::RSA_PKCS1_SHA256;
    const PSS: SignatureScheme = SignatureScheme::RSA_PSS_RSAE_SHA256;
    let claiming = |version, schemes| {
        let chain = certificate().chain().to_vec();
        let identity = Some(ClientIdentity { chain, signer: Box::new(Claims(schemes)) }.into());
        begun_with(Config { versions: vec![version], identity, ..trusting_client() }, FULL)
    };
    let accepted = [&[0, 4][..], &PKCS1.0.to_be_bytes(), &PSS.0.to_be_bytes()].concat();

    let ask13 = |client: &mut Connection| {
        let mut server = script::tls13::greeted(client);
        let request = [(ExtensionType::SIGNATURE_ALGORITHMS, accepted.clone())];
        let mut flight = vec![server.encrypted_extensions(&[]), server.certificate_request(&request)];
        flight.extend([server.certificate(), server.certificate_verify(), server.finished()]);
        client.receive(NOW, &server.handshake(&flight)).map(|()| server.open(&client.take_outgoing(NOW)))
    };
    assert_eq!(ask13(&mut claiming(Version::Tls13, &[PKCS1])), Err(Error::NoCommonSignatureScheme));
    let answer = ask13(&mut claiming(Version::Tls13, &[PKCS1, PSS])).unwrap();
    assert!(answer[0].1.windows(2).any(|pair| pair == PSS.0.to_be_bytes()));

    let mut client = claiming(Version::Tls12, &[PKCS1, PSS]);
    let mut server = script::tls12::greeted_with(&mut client, |_| {});
    let mut flight = server.flight();
    let request = [&[1, 1][..], &accepted, &[0, 0]].concat();
    flight.insert(2, script::framed(HandshakeType::CERTIFICATE_REQUEST, |out| out.extend_from_slice(&request)));
    client.receive(NOW, &script::tls12::handshake(&flight)).unwrap();
    let records = script::records(&client.take_outgoing(NOW));
    let verify = CertificateVerify::parse(script::body_of(&records[2].1)).unwrap();
    assert_eq!((verify.scheme, verify.signature), (PKCS1, &PKCS1.0.to_be_bytes()[..]));
    assert_eq!(client.outcome().unwrap().client_authentication, Seen::Sent);
}
