//! A client's verifier that verifies a chain once, and then only compares it.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// It knows the chain that it has verified last. This program ends long before a certificate expires.
#[derive(Debug)]
pub(crate) struct KnownChain {
    verifier: Arc<WebPkiServerVerifier>,
    known: Mutex<Option<(ServerName<'static>, Vec<Vec<u8>>)>>,
}

impl KnownChain {
    pub(crate) fn new(roots: RootCertStore, provider: Arc<CryptoProvider>) -> anyhow::Result<Arc<Self>> {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build()?;
        Ok(Arc::new(Self { verifier, known: Mutex::default() }))
    }
}

impl ServerCertVerifier for KnownChain {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let chain = || std::iter::once(leaf).chain(intermediates);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known
            .as_ref()
            .is_some_and(|(of, known)| of == name && chain().map(AsRef::as_ref).eq(known.iter().map(Vec::as_slice)))
        {
            return Ok(ServerCertVerified::assertion());
        }
        let verified = self.verifier.verify_server_cert(leaf, intermediates, name, ocsp, now)?;
        *known = Some((name.to_owned(), chain().map(|certificate| certificate.to_vec()).collect()));
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
