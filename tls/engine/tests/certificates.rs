//! The server's chain: what is trusted, and what is said of what is not.

use reprise_engine::{CertificateError, ChainVerifier, Error, WebPkiVerifier, public_key_of};
use reprise_lab::{Authority, Identity, KeyKind, ServerSpec, Validity};
use reprise_model::{Verification, Version};
use reprise_wire::AlertDescription;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::client::client;
use crate::pair::{Ended, Pair};
use crate::script::tls13::greeted;
use crate::script::{NOW, alert_of};
use crate::server::{self, Server, authority};
use crate::{FULL, begun_with};

/// What comes of a handshake with a server that has this certificate.
fn with_identity(identity: &Identity, name: &str) -> Result<Verification, Error> {
    let mut config = client(authority());
    config.server_name = ServerName::try_from(name.to_owned()).unwrap();
    let mut server = Server::with(KeyKind::P256).start();
    let key = rustls::crypto::aws_lc_rs::sign::any_supported_type(&identity.key_der()).unwrap();
    let certified = rustls::sign::CertifiedKey::new(identity.chain().to_vec(), key);
    server.cert_resolver = std::sync::Arc::new(rustls::sign::SingleCertAndKey::from(certified));
    let mut pair = Pair::new(config, server);
    match pair.try_drive() {
        Ok(()) => Ok(pair.outcome().verification),
        Err(Ended::ByClient(error)) => Err(error),
        Err(Ended::ByServer(error)) => panic!("{error}"),
    }
}

fn issued(edit: impl FnOnce(&mut ServerSpec)) -> Identity {
    let mut spec = ServerSpec::new(KeyKind::P256);
    edit(&mut spec);
    authority().server(&spec).unwrap()
}

#[test]
fn names_and_addresses() {
    let identity = issued(|_| {});
    for name in ["localhost", "127.0.0.1", "::1"] {
        assert_eq!(with_identity(&identity, name), Ok(Verification::Verified), "{name}");
    }
    for name in ["localhost.example", "127.0.0.2"] {
        let error = with_identity(&identity, name).unwrap_err();
        assert!(matches!(&error, Error::Certificate(CertificateError::WrongName { expected, .. }) if expected == name));
        assert_eq!(error.alert(), Some(AlertDescription::BAD_CERTIFICATE));
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn times() {
    let expired = with_identity(&issued(|spec| spec.validity = Validity::Expired), "localhost");
    assert_eq!(expired, Err(CertificateError::Expired.into()));
    let early = with_identity(&issued(|spec| spec.validity = Validity::NotYet), "localhost");
    assert_eq!(early, Err(CertificateError::NotValidYet.into()));
    for error in [CertificateError::Expired, CertificateError::NotValidYet] {
        assert_eq!(Error::from(error).alert(), Some(AlertDescription::CERTIFICATE_EXPIRED));
    }
}

#[test]
fn chains() {
    let long = issued(|spec| spec.intermediates = 3);
    assert_eq!(long.chain().len(), 4);
    assert_eq!(with_identity(&long, "localhost"), Ok(Verification::Verified));

    // Other authorities of the same name: one with another key, one with a key of another kind.
    let stranger = |kind| Authority::with_key(kind).unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    assert_eq!(with_identity(&stranger(KeyKind::P256), "localhost"), Err(CertificateError::UnknownIssuer.into()));
    let error = with_identity(&stranger(KeyKind::Ed25519), "localhost").unwrap_err();
    assert!(error.to_string().contains("signed in a way that cannot be verified"), "{error}");
}

#[test]
fn a_chain_with_a_link_missing() {
    let long = issued(|spec| spec.intermediates = 1);
    let mut client = begun_with(reprise_engine::Config { versions: vec![Version::Tls13], ..client(authority()) }, FULL);
    let mut server = greeted(&mut client);
    let flight = [server.encrypted_extensions(&[]), server.certificate_with(&[], &[&long.chain()[0]], &[])];
    let error = client.receive(NOW, &server.handshake(&flight)).unwrap_err();
    assert_eq!(error, CertificateError::UnknownIssuer.into());
    assert_eq!(alert_of(&mut client).as_deref(), Some("unknown_ca"));
}

/// What `openssl req -x509` makes: self-signed, and marked as a CA.
fn self_signed(edit: impl FnOnce(&mut rcgen::CertificateParams)) -> CertificateDer<'static> {
    let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    edit(&mut params);
    params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().into()
}

fn verified(root: &CertificateDer<'static>, served: &CertificateDer<'static>, name: &str) -> Result<(), CertificateError> {
    let (verifier, unreadable) = WebPkiVerifier::new(std::slice::from_ref(root));
    assert_eq!(unreadable, 0);
    let name = ServerName::try_from(name.to_owned()).unwrap();
    verifier.verify(std::slice::from_ref(served), &name, UnixTime::now())
}

#[test]
fn a_root_that_serves_is_trusted_where_it_is_trusted_itself() {
    let root = self_signed(|_| {});
    assert_eq!(verified(&root, &root, "localhost"), Ok(()));
    let other_name = verified(&root, &root, "example.org").unwrap_err();
    assert!(matches!(other_name, CertificateError::WrongName { presented, .. } if presented == ["localhost"]));
    assert_eq!(verified(&root, &self_signed(|_| {}), "localhost"), Err(CertificateError::SelfSigned));
    let of_server = self_signed(|params| params.is_ca = rcgen::IsCa::NoCa);
    assert_eq!(verified(&of_server, &of_server, "localhost"), Ok(()));
    assert_eq!(verified(&root, &of_server, "localhost"), Err(CertificateError::SelfSigned));
}

#[test]
fn a_ca_that_serves_is_told_from_who_signed_itself() {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.distinguished_name = named("Root");
    let root = params.clone();
    let issuer = rcgen::Issuer::from_params(&root, &key);
    params.distinguished_name = named("Intermediate");
    let served = params.signed_by(&rcgen::KeyPair::generate().unwrap(), &issuer).unwrap().into();
    assert_eq!(verified(&self_signed(|_| {}), &served, "localhost"), Err(CertificateError::OfCa));
}

fn named(name: &str) -> rcgen::DistinguishedName {
    let mut named = rcgen::DistinguishedName::new();
    named.push(rcgen::DnType::CommonName, name);
    named
}

#[test]
fn a_certificate_that_ends_before_it_begins_is_told_in_words() {
    let turned = self_signed(|params| {
        params.not_before = rcgen::date_time_ymd(2035, 1, 1);
        params.not_after = rcgen::date_time_ymd(2034, 1, 1);
    });
    let told = verified(&self_signed(|_| {}), &turned, "localhost").unwrap_err().to_string();
    assert!(told.ends_with("it ends before it begins: its notAfter is before its notBefore"), "{told}");
}

#[test]
fn a_root_that_serves_has_its_time_too() {
    let expired = self_signed(|params| params.not_after = rcgen::date_time_ymd(2001, 1, 1));
    assert_eq!(verified(&expired, &expired, "localhost"), Err(CertificateError::Expired));
    let early = self_signed(|params| {
        params.not_before = rcgen::date_time_ymd(2999, 1, 1);
        params.not_after = rcgen::date_time_ymd(3000, 1, 1);
    });
    assert_eq!(verified(&early, &early, "localhost"), Err(CertificateError::NotValidYet));
}

#[test]
fn every_error_has_a_name_of_its_own() {
    let errors = [
        CertificateError::UnknownIssuer,
        CertificateError::Expired,
        CertificateError::NotValidYet,
        CertificateError::WrongName { expected: String::new(), presented: Vec::new() },
        CertificateError::UnsupportedKey(String::new()),
        CertificateError::Empty,
        CertificateError::Other(String::new()),
    ];
    let names: std::collections::BTreeSet<_> = errors.iter().map(CertificateError::name).collect();
    assert_eq!(names.len(), errors.len());
    assert!(errors.iter().all(|error| Error::Certificate(error.clone()).alert().is_some()));
}

#[test]
fn the_public_key_of_a_certificate_is_its_bits() {
    let p256 = public_key_of(&server::certificate(KeyKind::P256).chain()[0]).unwrap();
    assert_eq!((p256.len(), p256[0]), (65, 4));
    assert_eq!(public_key_of(&server::certificate(KeyKind::Ed25519).chain()[0]).unwrap().len(), 32);
    assert_eq!(public_key_of(&CertificateDer::from(vec![1, 2, 3])), None);
}
