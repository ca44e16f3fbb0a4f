//! Any bytes for the server's certificate: it is never trusted, and no key in it makes a signature right.
//!
//! The first byte says how: as a TLS 1.2 or a TLS 1.3 server's, verified or taken as it is, alone or before the genuine
//! chain, or as a root.

use std::sync::{Arc, OnceLock};

use reprise_engine::{
    CertificatePolicy, ChainVerifier, Config, Connection, Error, Misbehaviour, Offer, WebPkiVerifier, public_key_of,
};
use reprise_lab::KeyKind;
use reprise_model::{Verification, Version};
use reprise_scripted::certificates::{authority, certificate};
use reprise_scripted::{NOW, clear, client, tls12, tls13};
use reprise_wire::ContentType;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

pub(crate) fn run(bytes: &[u8]) {
    let Some((&how, der)) = bytes.split_first() else { return };
    let genuine = certificate(KeyKind::P256).chain();
    if der == &*genuine[0] {
        return;
    }
    let certificate = CertificateDer::from(der);
    let _ = public_key_of(&certificate);
    let chain: Vec<CertificateDer<'_>> = match how & 4 {
        0 => vec![certificate],
        _ => [&[certificate], genuine].concat(),
    };
    if how & 8 != 0 {
        return as_a_root(&chain[0]);
    }
    assert!(verifier().verify(&chain, &name(), now()).is_err(), "it was trusted");
    let version = if how & 1 == 0 { Version::Tls13 } else { Version::Tls12 };
    let trusting = how & 2 != 0;
    let mut client = begun(version, trusting);
    let chain: Vec<&[u8]> = chain.iter().map(|der| &**der).collect();
    let result = match version {
        Version::Tls13 => as_a_tls13_server(&mut client, &chain),
        Version::Tls12 => as_a_tls12_server(&mut client, &chain),
    };
    if !trusting {
        assert!(result.is_err() && client.ready().is_none(), "it was trusted by the handshake");
    } else if result.is_ok() {
        // Only a key that nobody can verify with is passed over, and that is said.
        let verification = client.outcome().map(|outcome| outcome.verification);
        assert_eq!(verification, Some(Verification::SignatureUnverified), "another key made the signature right");
    } else if let Err(Error::PeerMisbehaved(Misbehaviour::BadFinished)) = result {
        panic!("the Finished does not cover the certificate");
    }
}

/// A root that is any bytes may be readable or not; the genuine chain is not its.
fn as_a_root(root: &CertificateDer<'_>) {
    let (verifier, unreadable) = WebPkiVerifier::new(std::slice::from_ref(root));
    assert!(unreadable <= 1);
    if **root != **authority().certificate() {
        let chain = certificate(KeyKind::P256).chain();
        // One with the authority's own name and key vouches for what the authority vouches for.
        let same_key = public_key_of(root) == public_key_of(authority().certificate());
        assert!(same_key || verifier.verify(chain, &name(), now()).is_err(), "another root was taken for the genuine one");
    }
}

fn as_a_tls13_server(client: &mut Connection, chain: &[&[u8]]) -> Result<(), Error> {
    let mut server = tls13::greeted(client);
    let flight = [
        server.encrypted_extensions(&[]),
        server.certificate_with(&[], chain, &[]),
        server.certificate_verify(),
        server.finished(),
    ];
    client.receive(NOW, &server.handshake(&flight))
}

fn as_a_tls12_server(client: &mut Connection, chain: &[&[u8]]) -> Result<(), Error> {
    let mut server = tls12::greeted_with(client, |_| {});
    let certificate = server.certificate_of(chain);
    let flight = [certificate, server.server_key_exchange(), server.done()].concat();
    client.receive(NOW, &clear(ContentType::HANDSHAKE, &flight))?;
    server.hear_flight(client);
    client.receive(NOW, &server.end())
}

fn begun(version: Version, trusting: bool) -> Connection {
    let certificates =
        if trusting { CertificatePolicy::AcceptAnyChain } else { CertificatePolicy::Verify(verifier().clone()) };
    let config = Config { versions: vec![version], certificates, ..client::trusting_client() };
    client::start(&Arc::new(config), Offer::Full { session_ticket: false }, NOW).unwrap()
}

fn verifier() -> &'static Arc<WebPkiVerifier> {
    static VERIFIER: OnceLock<Arc<WebPkiVerifier>> = OnceLock::new();
    VERIFIER.get_or_init(|| Arc::new(WebPkiVerifier::new(std::slice::from_ref(authority().certificate())).0))
}

fn name() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

fn now() -> UnixTime {
    UnixTime::now()
}
