//! From the server's certificate to a trusted root.

use std::net::IpAddr;

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
    anchors: Vec<TrustAnchor<'static>>,
    roots: Vec<CertificateDer<'static>>,
}

impl WebPkiVerifier {
    /// With these root certificates. Returns the verifier and how many of them could not be read.
    pub fn new(roots: &[CertificateDer<'_>]) -> (Self, usize) {
        let anchors: Vec<_> =
            roots.iter().filter_map(|root| anchor_from_trusted_cert(root).ok().map(|anchor| anchor.to_owned())).collect();
        let unreadable = roots.len() - anchors.len();
        let roots = roots.iter().map(|root| root.clone().into_owned()).collect();
        (Self { anchors, roots }, unreadable)
    }
}

impl ChainVerifier for WebPkiVerifier {
    fn verify(&self, chain: &[CertificateDer<'_>], name: &ServerName<'_>, now: UnixTime) -> Result<(), CertificateError> {
        let (der, intermediates) = chain.split_first().ok_or(CertificateError::Empty)?;
        let explain = |error| explain(error, name);
        let leaf = EndEntityCert::try_from(der).map_err(explain)?;
        match leaf.verify_for_usage(
            ALL_VERIFICATION_ALGS,
            &self.anchors,
            intermediates,
            now,
            KeyUsage::server_auth(),
            None,
            None,
        ) {
            // What `openssl req -x509` makes is marked as a CA and served as it is. Whoever trusts this very certificate
            // needs no chain to it. Its time was checked before it was found to be a CA's.
            Err(WebPkiError::CaUsedAsEndEntity) if self.roots.contains(der) => {}
            result => result.map(|_| ()).map_err(explain)?,
        }
        leaf.verify_is_valid_for_subject_name(name).map_err(explain)
    }
}

fn explain(error: WebPkiError, name: &ServerName<'_>) -> CertificateError {
    match error {
        // The latter: the issuer bears a root's name and has not its key.
        WebPkiError::UnknownIssuer | WebPkiError::InvalidSignatureForPublicKey => CertificateError::UnknownIssuer,
        WebPkiError::CertExpired { .. } => CertificateError::Expired,
        WebPkiError::CertNotValidYet { .. } => CertificateError::NotValidYet,
        WebPkiError::CertNotValidForName(context) => CertificateError::WrongName {
            expected: name.to_str().into_owned(),
            presented: context.presented.iter().map(|name| plain(name)).collect(),
        },
        // A root used directly as a server's certificate: no chain to a root there is.
        WebPkiError::CaUsedAsEndEntity => CertificateError::Other("it is a CA's own, not a server's".to_owned()),
        WebPkiError::UnsupportedSignatureAlgorithmContext(_)
        | WebPkiError::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
            CertificateError::Other("it is signed in a way that cannot be verified, or not by its issuer's key".to_owned())
        }
        other => CertificateError::Other(format!("{other:?}")),
    }
}

/// The name itself, which the library wraps in its kind: `DnsName("example.org")`.
fn plain(presented: &str) -> String {
    let inner = presented.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(presented);
    let name = inner.trim_matches('"');
    // Its IPv6 addresses are readable, and not as others write them: `0::1`.
    name.parse::<IpAddr>().map_or_else(|_| name.to_owned(), |address| address.to_string())
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn names_are_shown_as_everyone_writes_them() {
        assert_eq!(plain("DnsName(\"example.org\")"), "example.org");
        assert_eq!(plain("IpAddress(127.0.0.1)"), "127.0.0.1");
        assert_eq!(plain("IpAddress(0::1)"), "::1");
    }
}
