//! RFC 8448 through the whole state machine: the client's own hellos, keys and signatures are those of the trace, and what
//! the engine makes of the server's records must be the rest of it, byte for byte.

use std::sync::{Arc, Mutex};

use reprise_model::{ClientAuthentication, EarlyData, Kind, Nanos, PeerKey, SharedGroups, Verification, Version};
use reprise_wire::{CertificateTls13, CertificateVerify, Handshake, NamedGroup, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::State;
use super::first_flight::{ExpectServerHello, Retry};
use crate::core::Core;
use crate::suite::{Hash, SUITES};
use crate::transcript::Transcript;
use crate::vector_file::Trace;
use crate::{
    CertificateError, CertificatePolicy, ChainVerifier, ClientIdentity, Config, Connection, EcdhKeyShare, Entropy, Error,
    KeyShare, KeyShares, Offer, Receipt, Secret, Session, Signer, Tls13Ticket,
};

const CHANGE_CIPHER_SPEC: [u8; 6] = [20, 3, 3, 0, 1, 1];
const FULL: Offer = Offer::Full { session_ticket: true };

#[test]
fn section_3_simple_with_its_rsa_1024_signature_unverified() {
    let trace = Trace::read("section-3-simple-1-rtt.txt");
    let mut connection = begin(&trace, config(Vec::new()), FULL);
    exchange(&trace, &mut connection);
    assert_eq!(connection.outcome().map(|facts| facts.verification), Some(Verification::SignatureUnverified));
    assert_eq!(connection.facts().and_then(|facts| facts.peer_key), Some(PeerKey::Rsa { bits: 1024 }));

    connection.receive(Nanos(2_000_000), trace.get("server record NewSessionTicket")).unwrap();
    match &connection.take_sessions()[..] {
        [Session::Tls13(ticket)] => {
            assert_eq!(ticket.psk.as_ref(), trace.get("resumption psk"));
            assert_eq!((ticket.lifetime, ticket.max_early_data), (30, Some(1024)));
            assert_eq!(ticket.received, Receipt::fresh(Nanos(2_000_000)));
        }
        other => panic!("{other:?}"),
    }
    converse(&trace, &mut connection);
}

#[test]
fn section_3_is_refused_for_its_rsa_1024_signature() {
    struct TrustEveryone;
    impl ChainVerifier for TrustEveryone {
        fn verify(&self, _: &[CertificateDer<'_>], _: &ServerName<'_>, _: UnixTime) -> Result<(), CertificateError> {
            Ok(())
        }
    }
    let trace = Trace::read("section-3-simple-1-rtt.txt");
    let verify = CertificatePolicy::Verify(Arc::new(TrustEveryone));
    let mut connection = begin(&trace, Config { certificates: verify, ..config(Vec::new()) }, FULL);
    connection.receive(Nanos(1), trace.get("server record ServerHello")).unwrap();
    let refused = connection.receive(Nanos(1), trace.get("server record EncryptedExtensions..Finished"));
    assert_eq!(refused, Err(CertificateError::UnsupportedKey("rsa-1024".to_owned()).into()));
}

#[test]
fn section_4_resumed_with_early_data() {
    let trace = Trace::read("section-4-resumed-0-rtt.txt");
    let ticket = Tls13Ticket {
        suite: &SUITES[0],
        psk: Secret::new(trace.get("psk")).unwrap(),
        ticket: Vec::new(),
        lifetime: 30,
        age_add: 0,
        max_early_data: Some(1024),
        received: Receipt::fresh(Nanos(0)),
        alpn: None,
        leaf: None,
    };
    let mut connection = start(&trace, config(Vec::new()), Offer::Early(ticket));
    let data = trace.get("client early data");
    assert_eq!(connection.send_early(Nanos(0), data), Ok(data.len()));
    let hello = trace.get("client record ClientHello");
    let flight = [hello, &CHANGE_CIPHER_SPEC, trace.get("client record early data")].concat();
    assert_eq!(connection.take_outgoing(Nanos(0)), flight);

    connection.receive(Nanos(1), trace.get("server record ServerHello")).unwrap();
    connection.receive(Nanos(1), trace.get("server record EncryptedExtensions..Finished")).unwrap();
    let outcome = connection.outcome().unwrap();
    assert_eq!((outcome.kind, outcome.verification), (Kind::Early, Verification::Inherited));
    assert_eq!(outcome.early_data, Some(EarlyData::Accepted));
    assert!(connection.ready().is_some());
    let flight = [trace.get("client record EndOfEarlyData"), trace.get("client record Finished")].concat();
    assert_eq!(connection.take_outgoing(Nanos(1)), flight);
    converse(&trace, &mut connection);
}

#[test]
fn section_5_hello_retry_request_is_answered() {
    let trace = Trace::read("section-5-hello-retry-request.txt");
    let shares = vec![share(&trace, "secp256r1")];
    let mut connection = begin(&trace, config(shares), FULL);
    connection.receive(Nanos(1), trace.get("server record HelloRetryRequest")).unwrap();
    assert!(connection.outcome().is_none());
    let answer = connection.take_outgoing(Nanos(1));
    let (change_cipher_spec, hello) = answer.split_at(6);
    assert_eq!(change_cipher_spec, CHANGE_CIPHER_SPEC);
    // Our hello says less than that of the trace; what was asked for must be the same in both.
    let [ours, theirs] = [&hello[5..], trace.get("client ClientHello 2")].map(|message| {
        let hello = reprise_wire::ClientHello::parse(&message[4..]).unwrap();
        let extensions = hello.extensions.unwrap();
        let asked = [reprise_wire::ExtensionType::KEY_SHARE, reprise_wire::ExtensionType::COOKIE];
        (*hello.random, asked.map(|extension| extensions.find(extension).map(<[u8]>::to_vec)))
    });
    assert_eq!(ours, theirs);
    assert!(ours.1.iter().all(Option::is_some));
}

#[test]
fn section_5_after_the_second_hello_unverified() {
    let trace = Trace::read("section-5-hello-retry-request.txt");
    let mut transcript = Transcript::after_retry(Hash::Sha256, trace.get("client ClientHello"));
    transcript.add(trace.get("server HelloRetryRequest"));
    transcript.add(trace.get("client ClientHello 2"));
    let retry = Retry {
        suite: &SUITES[0],
        group: Some(NamedGroup::SECP256R1),
        shared: SharedGroups::of([NamedGroup::X25519.0]),
        transcript,
    };
    // The first hello was another connection's; to this one it has been sent already.
    let mut core = core(config(Vec::new()));
    core.send_handshake(trace.get("client ClientHello")).unwrap();
    core.offered = crate::offered::Offered::by(trace.get("client ClientHello").to_vec());
    core.send_change_cipher_spec();
    core.outgoing.clear();
    let hello = trace.get("client ClientHello 2");
    let state = ExpectServerHello::having_sent(&mut core, FULL, share(&trace, "secp256r1"), hello, Some(retry)).unwrap();
    let mut connection = Connection::begun(core, State::ServerHello(Box::new(state)));
    assert_eq!(connection.take_outgoing(Nanos(0)), trace.get("client record ClientHello 2"));

    receive_flight(&trace, &mut connection);
    let outcome = connection.outcome().unwrap();
    assert!(outcome.hello_retry_request);
    assert_eq!(outcome.group.as_deref(), Some("secp256r1"));
    assert_eq!(outcome.verification, Verification::SignatureUnverified);
    // ChangeCipherSpec went with the second hello.
    assert_eq!(connection.take_outgoing(Nanos(1)), trace.get("client record Finished"));
    converse(&trace, &mut connection);
}

#[test]
fn section_6_client_authentication_is_verified() {
    let trace = Trace::read("section-6-client-authentication.txt");
    let mut config = config(Vec::new());
    let certificate = CertificateTls13::parse(body_of(trace.get("client Certificate"))).unwrap();
    let verify = CertificateVerify::parse(body_of(trace.get("client CertificateVerify"))).unwrap();
    // What is signed covers all up to the Certificate.
    let mut transcript = Transcript::beginning(Hash::Sha256, trace.get("client ClientHello"));
    let server =
        ["ServerHello", "EncryptedExtensions", "CertificateRequest", "Certificate", "CertificateVerify", "Finished"];
    server.iter().for_each(|message| transcript.add(trace.get(&format!("server {message}"))));
    transcript.add(trace.get("client Certificate"));
    let covered = [&[b' '; 64], &b"TLS 1.3, client CertificateVerify\0"[..], transcript.current().as_ref()].concat();
    let chain = certificate.entries.iter().map(|entry| CertificateDer::from(entry.cert_data.to_vec()));
    let signer = Replayed { schemes: [verify.scheme], covered, signature: verify.signature.to_vec() };
    config.identity = Some(Arc::new(ClientIdentity { chain: chain.collect(), signer: Box::new(signer) }));

    let mut connection = begin(&trace, config, FULL);
    receive_flight(&trace, &mut connection);
    let outcome = connection.outcome().unwrap();
    assert_eq!(outcome.client_authentication, ClientAuthentication::Sent);
    assert_eq!((outcome.peer_key.as_deref(), outcome.verification), (Some("p-256"), Verification::ChainSkipped));
    let flight = [&CHANGE_CIPHER_SPEC, trace.get("client record Certificate..Finished")].concat();
    assert_eq!(connection.take_outgoing(Nanos(1)), flight);
    converse(&trace, &mut connection);
}

#[test]
fn section_7_compatibility_mode_unverified() {
    let trace = Trace::read("section-7-compatibility-mode.txt");
    let mut connection = begin(&trace, config(Vec::new()), FULL);
    exchange(&trace, &mut connection);
    assert_eq!(connection.outcome().unwrap().verification, Verification::SignatureUnverified);
    converse(&trace, &mut connection);
}

/// A connection that has sent the ClientHello of the trace.
fn begin(trace: &Trace, config: Config, offer: Offer) -> Connection {
    let mut connection = start(trace, config, offer);
    assert_eq!(connection.take_outgoing(Nanos(0)), trace.get("client record ClientHello"));
    connection
}

/// The same, while it waits to leave.
fn start(trace: &Trace, config: Config, offer: Offer) -> Connection {
    let mut core = core(config);
    let hello = trace.get("client ClientHello");
    let state = ExpectServerHello::having_sent(&mut core, offer, share(trace, "x25519"), hello, None).unwrap();
    Connection::begun(core, State::ServerHello(Box::new(state)))
}

/// From the ServerHello to the client's Finished.
fn exchange(trace: &Trace, connection: &mut Connection) {
    receive_flight(trace, connection);
    let expected = [&CHANGE_CIPHER_SPEC, trace.get("client record Finished")].concat();
    assert_eq!(connection.take_outgoing(Nanos(1)), expected);
}

fn receive_flight(trace: &Trace, connection: &mut Connection) {
    connection.receive(Nanos(1), trace.get("server record ServerHello")).unwrap();
    connection.receive(Nanos(1), trace.find("server record ChangeCipherSpec").unwrap_or_default()).unwrap();
    connection.receive(Nanos(1), trace.get("server record EncryptedExtensions..Finished")).unwrap();
    assert_eq!(connection.outcome().map(|facts| facts.kind), Some(Kind::Full));
    assert!(connection.ready().is_some() && !connection.is_confirmed());
}

/// Data where the trace has some, and the alerts that close both sides.
fn converse(trace: &Trace, connection: &mut Connection) {
    if let Some(data) = trace.find("client application data") {
        connection.send(Nanos(3), data).unwrap();
        assert_eq!(connection.take_outgoing(Nanos(3)), trace.get("client record application data"));
        connection.receive(Nanos(4), trace.get("server record application data")).unwrap();
        assert_eq!(connection.take_application_data(), trace.get("server application data"));
    }
    connection.close(Nanos(5)).unwrap();
    assert_eq!(connection.take_outgoing(Nanos(5)), trace.get("client record alert"));
    connection.receive(Nanos(6), trace.get("server record alert")).unwrap();
    assert!(connection.is_peer_closed() && connection.is_confirmed());
}

fn core(config: Config) -> Core {
    Core::new(Arc::new(config), UnixTime::since_unix_epoch(std::time::Duration::ZERO), Nanos(0))
}

fn config(shares: Vec<Box<dyn KeyShare>>) -> Config {
    let (shares, name) = (Arc::new(Shares(Mutex::new(shares))), ServerName::try_from("server").unwrap());
    let config = Config::new(name, CertificatePolicy::AcceptAnyChain, shares, Arc::new(NoEntropy));
    Config { versions: vec![Version::Tls13], ..config }
}

fn share(trace: &Trace, group: &str) -> Box<dyn KeyShare> {
    let private = trace.get(&format!("client {group} private key"));
    Box::new(EcdhKeyShare::from_private_key(NamedGroup::from_name(group).unwrap(), private).unwrap())
}

fn body_of(message: &[u8]) -> &[u8] {
    Handshake::parse(message).unwrap().unwrap().0.body
}

struct Shares(Mutex<Vec<Box<dyn KeyShare>>>);

impl KeyShares for Shares {
    fn share(&self, group: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
        let share = self.0.lock().unwrap().pop().unwrap();
        assert_eq!(share.group(), group);
        Ok(share)
    }
}

struct NoEntropy;

impl Entropy for NoEntropy {
    fn fill(&self, _: &mut [u8]) -> Result<(), Error> {
        panic!("a replay draws no randomness")
    }

    fn encrypt_premaster(&self, _: &[u8], _: &[u8; 48]) -> Result<Vec<u8>, Error> {
        panic!("a replay encrypts no premaster secret")
    }
}

/// Signs what the trace signs, with the signature of the trace.
struct Replayed {
    schemes: [SignatureScheme; 1],
    covered: Vec<u8>,
    signature: Vec<u8>,
}

impl Signer for Replayed {
    fn schemes(&self) -> &[SignatureScheme] {
        &self.schemes
    }

    fn sign(&self, scheme: SignatureScheme, message: &[u8]) -> Result<Vec<u8>, Error> {
        assert_eq!((scheme, message), (self.schemes[0], &self.covered[..]));
        Ok(self.signature.clone())
    }
}
