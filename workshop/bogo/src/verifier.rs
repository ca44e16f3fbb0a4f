//! A verifier that says what the runner wants it to say, and remembers what it was shown.

use std::sync::Mutex;

use reprise_engine::{CertificateError, ChainVerifier};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

pub(crate) struct ToldVerifier {
    fail: bool,
    shown: Mutex<Vec<CertificateDer<'static>>>,
}

impl ToldVerifier {
    pub(crate) fn new(fail: bool) -> Self {
        Self { fail, shown: Mutex::default() }
    }

    /// The last chain that was to be verified, leaf first; empty if there was none.
    pub(crate) fn shown(&self) -> Vec<CertificateDer<'static>> {
        self.shown.lock().map(|chain| chain.clone()).unwrap_or_default()
    }
}

impl ChainVerifier for ToldVerifier {
    fn verify(&self, chain: &[CertificateDer<'_>], _: &ServerName<'_>, _: UnixTime) -> Result<(), CertificateError> {
        if let Ok(mut shown) = self.shown.lock() {
            *shown = chain.iter().map(|certificate| certificate.clone().into_owned()).collect();
        }
        if self.fail { Err(CertificateError::Other("-verify-fail".to_owned())) } else { Ok(()) }
    }
}
