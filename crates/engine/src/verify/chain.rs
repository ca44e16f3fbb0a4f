//! From the server's certificate to a trusted root.

use rustls_pki_types::{CertificateDer, ServerName, TrustAnchor, UnixTime};
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, Error as WebPkiError, KeyUsage, anchor_from_trusted_cert};

use super::CertificateError;

/// Decides whether a chain, leaf first, speaks for a name.
pub trait ChainVerifier: Send + Sync {
    /// Fails with the reason if the chain must not be trusted for `name` at `now`.
    fn verify(&self, chain: &[CertificateDer<'_>], name: &ServerName<'_>, now: UnixTime) -> Result<(), CertificateError>;
}

/// Verification against a set of roots (RFC 5280, RFC 6125) by the webpki library.
pub struct WebPkiVerifier {
    roots: Vec<TrustAnchor<'static>>,
}

impl WebPkiVerifier {
    /// With these root certificates. Returns the verifier and how many of them could not be read.
    pub fn new(roots: &[CertificateDer<'_>]) -> (Self, usize) {
        let anchors: Vec<_> =
            roots.iter().filter_map(|root| anchor_from_trusted_cert(root).ok().map(|anchor| anchor.to_owned())).collect();
        let unreadable = roots.len() - anchors.len();
        (Self { roots: anchors }, unreadable)
    }
}

impl ChainVerifier for WebPkiVerifier {
    fn verify(&self, chain: &[CertificateDer<'_>], name: &ServerName<'_>, now: UnixTime) -> Result<(), CertificateError> {
        let (leaf, intermediates) = chain.split_first().ok_or(CertificateError::Empty)?;
        let explain = |error| explain(error, name);
        let leaf = EndEntityCert::try_from(leaf).map_err(explain)?;
        leaf.verify_for_usage(ALL_VERIFICATION_ALGS, &self.roots, intermediates, now, KeyUsage::server_auth(), None, None)
            .map_err(explain)?;
        leaf.verify_is_valid_for_subject_name(name).map_err(explain)
    }
}

fn explain(error: WebPkiError, name: &ServerName<'_>) -> CertificateError {
    match error {
        // The latter: the issuer bears a root's name and has not its key.
        WebPkiError::UnknownIssuer | WebPkiError::InvalidSignatureForPublicKey => CertificateError::UnknownIssuer,
        WebPkiError::CertExpired { .. } => CertificateError::Expired,
        WebPkiError::CertNotValidYet { .. } => CertificateError::NotValidYet,
        WebPkiError::CertNotValidForName(context) => {
            CertificateError::WrongName { expected: name.to_str().into_owned(), presented: context.presented }
        }
        // A root used directly as a server's certificate: no chain to a root there is.
        WebPkiError::CaUsedAsEndEntity => CertificateError::Other("it is a CA's own, not a server's".to_owned()),
        WebPkiError::UnsupportedSignatureAlgorithmContext(_)
        | WebPkiError::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
            CertificateError::Other("it is signed in a way that cannot be verified, or not by its issuer's key".to_owned())
        }
        other => CertificateError::Other(format!("{other:?}")),
    }
}
