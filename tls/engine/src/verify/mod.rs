//! The server's certificate: whether to trust it, and whether it signed.

mod chain;
mod judgement;
mod leaf_key;
mod signature;
#[cfg(test)]
mod wycheproof;

pub use chain::{ChainVerifier, WebPkiVerifier};
pub(crate) use leaf_key::{LeafKey, curve};
pub use leaf_key::{public_key_of, subject_public_key_info};
pub use signature::SIGNATURE_SCHEMES;
pub(crate) use signature::verify_signature;

use std::sync::Arc;

use reprise_wire::AlertDescription;
use thiserror::Error;

/// What to do with the server's certificate.
#[derive(Clone)]
pub enum CertificatePolicy {
    /// Verify the chain, the name and the signature over the handshake.
    Verify(Arc<dyn ChainVerifier>),
    /// Accept any chain. The signature over the handshake is still verified, unless its key is one that the crypto
    /// library refuses (RSA-1024): then it is reported as unverified.
    AcceptAnyChain,
    /// Look at neither the chain nor the signature, so that nothing proves who the server is: for load generation.
    Unchecked,
}

/// Why a certificate is not to be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CertificateError {
    /// No trusted root signed it.
    #[error("the server's certificate is signed by no trusted root")]
    UnknownIssuer,
    /// It signed itself, and is not trusted itself.
    #[error("the server's certificate is self-signed, and not one of those that are trusted")]
    SelfSigned,
    /// It is marked as a CA's, and is not trusted itself.
    #[error(
        "the server's certificate is a CA's (CA:TRUE in basicConstraints), which is valid for signing certificates only"
    )]
    OfCa,
    /// It is not valid any more.
    #[error("the server's certificate has expired")]
    Expired,
    /// It is not valid yet.
    #[error("the server's certificate is not valid yet")]
    NotValidYet,
    /// It is for another name.
    #[error("the server's certificate is not valid for {expected}; it is for {}", if presented.is_empty() { "no name".to_owned() } else { presented.join(", ") })]
    WrongName {
        /// The name that was asked for.
        expected: String,
        /// The names that it is for.
        presented: Vec<String>,
    },
    /// Its key is one that no current verifier takes, such as RSA-1024.
    #[error("the server's certificate has a key that cannot be verified: {0}")]
    UnsupportedKey(String),
    /// It is no certificate at all.
    #[error("the server's certificate cannot be read")]
    Unreadable,
    /// The server sent no certificate.
    #[error("the server sent no certificate")]
    Empty,
    /// Anything else that the verifier says.
    #[error("the server's certificate is invalid: {0}")]
    Other(String),
}

impl CertificateError {
    /// A short fixed name to count by.
    pub fn name(&self) -> &'static str {
        match self {
            Self::UnknownIssuer | Self::SelfSigned => "unknown_issuer",
            Self::Expired => "certificate_expired",
            Self::NotValidYet => "certificate_not_valid_yet",
            Self::WrongName { .. } => "certificate_wrong_name",
            Self::UnsupportedKey(_) => "certificate_unsupported_key",
            Self::Unreadable => "unreadable_certificate",
            Self::Empty => "no_certificate",
            Self::OfCa | Self::Other(_) => "bad_certificate",
        }
    }

    pub(crate) fn alert(&self) -> AlertDescription {
        match self {
            Self::UnknownIssuer | Self::SelfSigned => AlertDescription::UNKNOWN_CA,
            Self::Expired | Self::NotValidYet => AlertDescription::CERTIFICATE_EXPIRED,
            Self::UnsupportedKey(_) => AlertDescription::UNSUPPORTED_CERTIFICATE,
            Self::Unreadable | Self::Empty => AlertDescription::DECODE_ERROR,
            Self::WrongName { .. } => AlertDescription::BAD_CERTIFICATE,
            // Some other, unspecified issue (RFC 9846 §6.2).
            Self::OfCa | Self::Other(_) => AlertDescription::CERTIFICATE_UNKNOWN,
        }
    }
}
