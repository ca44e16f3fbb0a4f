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
        let leaf = EndEntityCert::try_from(der).map_err(|error| explain(error, name, false))?;
        let is_self_signed = leaf.issuer() == leaf.subject();
        let explain = |error| explain(error, name, is_self_signed);
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

fn explain(error: WebPkiError, name: &ServerName<'_>, is_self_signed: bool) -> CertificateError {
    match error {
        // The last: the issuer bears a root's name and has not its key.
        WebPkiError::UnknownIssuer | WebPkiError::CaUsedAsEndEntity | WebPkiError::InvalidSignatureForPublicKey
            if is_self_signed =>
        {
            CertificateError::SelfSigned
        }
        WebPkiError::UnknownIssuer | WebPkiError::InvalidSignatureForPublicKey => CertificateError::UnknownIssuer,
        WebPkiError::CaUsedAsEndEntity => CertificateError::OfCa,
        WebPkiError::CertExpired { .. } => CertificateError::Expired,
        WebPkiError::CertNotValidYet { .. } => CertificateError::NotValidYet,
        WebPkiError::CertNotValidForName(context) => CertificateError::WrongName {
            expected: name.to_str().into_owned(),
            presented: context.presented.iter().map(|name| plain(name)).collect(),
        },
        other => CertificateError::Other(words(&other).to_owned()),
    }
}

/// What is wrong with a certificate of the chain, of what has no name of its own. Revocation lists are not read.
fn words(error: &WebPkiError) -> &'static str {
    use WebPkiError as Error;
    match error {
        Error::BadDer | Error::TrailingData(_) => "it or its issuer's is not encoded in DER",
        Error::BadDerTime => "its dates, or its issuer's, cannot be read",
        Error::CertDistrusted => "its key, or its issuer's, is distrusted",
        Error::EmptyEkuExtension | Error::RequiredEkuNotFoundContext(_) => {
            "it is not for servers: its extended key usage lacks serverAuth"
        }
        Error::EndEntityUsedAsCa => "the certificate that signed it is no CA's: its basicConstraints lack CA:TRUE",
        Error::ExtensionValueInvalid | Error::MalformedExtensions => "an extension in its chain cannot be read",
        Error::InvalidCertValidity => "it ends before it begins: its notAfter is before its notBefore",
        Error::InvalidSerialNumber => "its serial number, or its issuer's, is negative, too long or cannot be read",
        Error::InvalidNetworkMaskConstraint | Error::MalformedNameConstraint => "a name constraint in its chain is invalid",
        Error::MalformedDnsIdentifier => "a DNS name in its chain is invalid",
        Error::MaximumNameConstraintComparisonsExceeded
        | Error::MaximumPathBuildCallsExceeded
        | Error::MaximumPathDepthExceeded
        | Error::MaximumSignatureChecksExceeded => "its chain is too long, or has too many ways to a root",
        Error::NameConstraintViolation => "its issuer may not sign for its names: the name constraints forbid it",
        Error::PathLenConstraintViolated => "there are more CAs in its chain than one of them allows (pathLenConstraint)",
        Error::SignatureAlgorithmMismatch => "it names two different signature algorithms, or its issuer's does",
        Error::UnsupportedCertVersion => "it, or its issuer's, is not of version 3 of X.509",
        Error::UnsupportedCriticalExtension => "it, or its issuer's, has a critical extension that is not supported",
        Error::UnsupportedSignatureAlgorithmContext(_) | Error::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
            "it is signed in a way that cannot be verified, or not by its issuer's key"
        }
        _ => "it breaks a rule of RFC 5280",
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
    use super::*;

    #[test]
    fn names_are_shown_as_everyone_writes_them() {
        assert_eq!(plain("DnsName(\"example.org\")"), "example.org");
        assert_eq!(plain("IpAddress(127.0.0.1)"), "127.0.0.1");
        assert_eq!(plain("IpAddress(0::1)"), "::1");
    }

    /// Those that can come of verifying a chain without revocation lists.
    #[test]
    fn no_error_is_told_by_the_librarys_name() {
        for error in [
            WebPkiError::BadDer,
            WebPkiError::BadDerTime,
            WebPkiError::EmptyEkuExtension,
            WebPkiError::EndEntityUsedAsCa,
            WebPkiError::InvalidCertValidity,
            WebPkiError::InvalidSerialNumber,
            WebPkiError::MaximumPathDepthExceeded,
            WebPkiError::NameConstraintViolation,
            WebPkiError::PathLenConstraintViolated,
            WebPkiError::UnsupportedCertVersion,
            WebPkiError::UnsupportedCriticalExtension,
        ] {
            let own = format!("{error:?}");
            let told = explain(error, &ServerName::try_from("localhost").unwrap(), false).to_string();
            assert!(!told.contains(&own) && !told.contains("rule of RFC"), "{told}");
        }
    }
}
