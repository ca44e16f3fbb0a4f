//! A client's certificate ends its sessions, and so does what a caller's verifier learns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose};
use reprise_session::rustls::{ClientAuth, ResumingServer};
use reprise_session::ticket::Refused;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, ProtocolVersion, SignatureScheme};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use time::{Duration, OffsetDateTime};

use super::pair::{Client, Fleet, MEANS, Means, VERSIONS, plain_server, provider, server};

type Chain = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// A root, and a client below an intermediate, which last so many seconds.
fn chain(intermediate: i64, leaf: i64) -> (CertificateDer<'static>, Chain) {
    let issuer = |seconds| {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.not_after = OffsetDateTime::now_utc() + Duration::seconds(seconds);
        params
    };
    let mut params = issuer(86_400);
    params.distinguished_name.push(rcgen::DnType::CommonName, "root");
    let root = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let below = CertifiedIssuer::signed_by(issuer(intermediate), KeyPair::generate().unwrap(), &root).unwrap();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["client.test".to_owned()]).unwrap();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params.not_after = OffsetDateTime::now_utc() + Duration::seconds(leaf);
    let certificate = params.signed_by(&key, &below).unwrap();
    let chain = vec![certificate.der().clone(), below.der().clone()];
    (root.der().clone(), (chain, PrivatePkcs8KeyDer::from(key.serialize_der()).into()))
}

#[test]
fn a_client_certificate_ends_its_sessions() {
    for version in VERSIONS {
        for means in MEANS {
            // Under TLS 1.2 nothing renews a stored session, which lives for 600 seconds.
            let (step, end) =
                if (version.version, means) == (ProtocolVersion::TLSv1_2, Means::Store) { (200, 500) } else { (450, 1000) };
            for (intermediate, leaf) in [(86_000, end), (end, 86_000)] {
                let (root, identity) = chain(intermediate, leaf);
                let fleet = Fleet::new();
                let auth = ClientAuth::required(&[root], &[], provider()).unwrap();
                let server = server(&fleet.identity(&["localhost"]), &auth, &fleet.resumption(means), |_| ());
                let client = Client::new(&fleet.authority, version, Some(identity));
                client.connect(&server);
                let case = format!("{:?} {means:?} {intermediate} {leaf}", version.version);
                for _ in 0..2 {
                    fleet.clock.advance(step);
                    let connected = client.connect(&server);
                    assert!(connected.resumed && connected.client_is_known, "{case}");
                }
                fleet.clock.advance(end as u64 - 2 * step + 50);
                // rustls verifies by the system's clock, by which it is not over yet.
                assert!(!client.connect(&server).resumed, "{case}");
                assert_eq!(fleet.counters.refused(Refused::ClientCertificate), 1, "{case}");
            }
        }
    }
}

#[test]
fn a_callers_verifier_is_asked_at_each_resumption() {
    for version in VERSIONS {
        for means in MEANS {
            let (_, identity) = chain(86_000, 86_000);
            let fleet = Fleet::new();
            let verifier = Arc::new(Verifier::default());
            let auth = ClientAuth::custom(Arc::clone(&verifier) as _, b"database");
            let config = plain_server(&fleet.identity(&["localhost"]), &auth, |_| ());
            let server = ResumingServer::new(config, &auth, &fleet.resumption(means)).unwrap();
            let client = Client::new(&fleet.authority, version, Some(identity));
            client.connect(&server);
            assert!(client.connect(&server).resumed);
            verifier.0.store(true, Ordering::Relaxed);
            assert!(client.try_connect(&server).is_err(), "a full handshake, which fails: {:?} {means:?}", version.version);
            assert_eq!(fleet.counters.refused(Refused::ClientCertificate), 0, "no handshake was completed");
        }
    }
}

/// Refuses all clients once it is told to.
#[derive(Debug, Default)]
struct Verifier(AtomicBool);

impl ClientCertVerifier for Verifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        assert_eq!(intermediates.len(), 1);
        if self.0.load(Ordering::Relaxed) {
            return Err(Error::General("revoked".to_owned()));
        }
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = provider().signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = provider().signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}
