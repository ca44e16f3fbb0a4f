//! A client's verifier of rustls that remembers the chain that it has verified last.

use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::digest::{self, SHA256};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::StackError;

/// It verifies no chain again that it has verified for this name, until a certificate of it expires. The signature of the handshake, which
/// shows that the server has the key, it verifies each time.
#[derive(Debug)]
pub(crate) struct ChainMemory {
    verifier: Arc<WebPkiServerVerifier>,
    known: Mutex<Option<Verified>>,
}

#[derive(Clone, Copy, Debug)]
struct Verified {
    /// Of the name and every certificate, each with its length.
    hash: [u8; 32],
    from: UnixTime,
    until: UnixTime,
}

impl ChainMemory {
    pub(crate) fn new(roots: RootCertStore, provider: Arc<CryptoProvider>) -> Result<Arc<Self>, StackError> {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        let verifier = verifier.map_err(|error| StackError::refused("verifier", error))?;
        Ok(Arc::new(Self { verifier, known: Mutex::default() }))
    }
}

impl ServerCertVerifier for ChainMemory {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let hash = hash(leaf, intermediates, name);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_some_and(|it| it.hash == hash && it.from <= now && now <= it.until) {
            return Ok(ServerCertVerified::assertion());
        }
        let verified = self.verifier.verify_server_cert(leaf, intermediates, name, ocsp, now)?;
        let mut until = expiry(leaf)?;
        for certificate in intermediates {
            until = until.min(expiry(certificate)?);
        }
        *known = Some(Verified { hash, from: now, until });
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

fn hash(leaf: &CertificateDer<'_>, intermediates: &[CertificateDer<'_>], name: &ServerName<'_>) -> [u8; 32] {
    let mut hash = digest::Context::new(&SHA256);
    let mut add = |part: &[u8]| {
        hash.update(&part.len().to_be_bytes());
        hash.update(part);
    };
    add(name.to_str().as_bytes());
    add(leaf);
    intermediates.iter().for_each(|certificate| add(certificate));
    let mut made = [0; 32];
    made.copy_from_slice(hash.finish().as_ref());
    made
}

fn expiry(certificate: &CertificateDer<'_>) -> Result<UnixTime, Error> {
    let parsed = Certificate::from_der(certificate).map_err(|_| Error::InvalidCertificate(CertificateError::BadEncoding))?;
    Ok(UnixTime::since_unix_epoch(parsed.tbs_certificate.validity.not_after.to_unix_duration()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reprise_lab::{Authority, KeyKind, ServerSpec};
    use rustls::crypto::aws_lc_rs::default_provider;

    use super::*;

    #[test]
    fn only_the_same_chain_is_known_for_the_same_name_and_time() {
        let authority = Authority::new().unwrap();
        let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
        let stranger = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(authority.certificate().clone()).unwrap();
        let memory = ChainMemory::new(roots, Arc::new(default_provider())).unwrap();
        let now = UnixTime::now();
        let verify = |leaf: &CertificateDer<'_>, name: &'static str, at| {
            memory.verify_server_cert(leaf, &[], &ServerName::try_from(name).unwrap(), &[], at)
        };
        let leaf = &identity.chain()[0];
        for _ in 0..2 {
            verify(leaf, "localhost", now).unwrap();
        }
        assert!(memory.known.lock().unwrap().is_some());
        assert!(verify(leaf, "other.test", now).is_err(), "another name");
        assert!(verify(&stranger.chain()[0], "localhost", now).is_err(), "another chain");
        let later = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs() + 365 * 86_400));
        assert!(verify(leaf, "localhost", later).is_err(), "it has expired since");
        verify(leaf, "localhost", now).unwrap();
    }
}
