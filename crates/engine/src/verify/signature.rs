//! The server's signature over the handshake.

use reprise_trace::Version;
use reprise_wire::SignatureScheme as Scheme;
use rustls_pki_types::SignatureVerificationAlgorithm;
use webpki::aws_lc_rs as algorithms;

use super::CertificateError;
use super::leaf_key::{KeyKind, LeafKey};
use crate::error::{Error, Misbehaviour};

/// The schemes that are offered in signature_algorithms, in order of preference.
pub(crate) const SCHEMES: &[Scheme] = &[
    Scheme::ECDSA_SECP256R1_SHA256,
    Scheme::ECDSA_SECP384R1_SHA384,
    Scheme::ED25519,
    Scheme::RSA_PSS_RSAE_SHA256,
    Scheme::RSA_PSS_RSAE_SHA384,
    Scheme::RSA_PSS_RSAE_SHA512,
    // For certificates, and for TLS 1.2 (RFC 8446 §4.2.3).
    Scheme::RSA_PKCS1_SHA256,
    Scheme::RSA_PKCS1_SHA384,
    Scheme::RSA_PKCS1_SHA512,
];

/// Verifies `signature` over `message`. An error of [`CertificateError::UnsupportedKey`] says that the key is one that
/// the crypto library refuses, so that nothing is known of the signature.
pub(crate) fn verify_signature(
    version: Version,
    key: &LeafKey,
    scheme: Scheme,
    message: &[u8],
    signature: &[u8],
) -> Result<(), Error> {
    if !SCHEMES.contains(&scheme) || !fits(version, key.kind, scheme) {
        return Err(Misbehaviour::UnofferedScheme(scheme).into());
    }
    let Some(algorithm) = algorithm(key.kind, scheme) else {
        return Err(CertificateError::UnsupportedKey(key.name()).into());
    };
    algorithm.verify_signature(&key.bits, message, signature).map_err(|_| Misbehaviour::BadSignature.into())
}

/// Whether a key of this kind may sign in this scheme. TLS 1.3 ties an ECDSA scheme to its curve (RFC 8446 §4.2.3) and
/// forbids PKCS #1 v1.5; in TLS 1.2 a scheme names a hash and a kind of key only (RFC 5246 §7.4.1.4.1).
fn fits(version: Version, kind: KeyKind, scheme: Scheme) -> bool {
    match scheme {
        Scheme::ECDSA_SECP256R1_SHA256 if version == Version::Tls13 => kind == KeyKind::P256,
        Scheme::ECDSA_SECP384R1_SHA384 if version == Version::Tls13 => kind == KeyKind::P384,
        Scheme::ECDSA_SECP256R1_SHA256 | Scheme::ECDSA_SECP384R1_SHA384 => {
            matches!(kind, KeyKind::P256 | KeyKind::P384 | KeyKind::P521)
        }
        Scheme::ED25519 => kind == KeyKind::Ed25519,
        Scheme::RSA_PKCS1_SHA256 | Scheme::RSA_PKCS1_SHA384 | Scheme::RSA_PKCS1_SHA512 => {
            version == Version::Tls12 && matches!(kind, KeyKind::Rsa { .. })
        }
        _ => matches!(kind, KeyKind::Rsa { .. }),
    }
}

fn algorithm(kind: KeyKind, scheme: Scheme) -> Option<&'static dyn SignatureVerificationAlgorithm> {
    Some(match (kind, scheme) {
        (KeyKind::P256, Scheme::ECDSA_SECP256R1_SHA256) => algorithms::ECDSA_P256_SHA256,
        (KeyKind::P256, Scheme::ECDSA_SECP384R1_SHA384) => algorithms::ECDSA_P256_SHA384,
        (KeyKind::P384, Scheme::ECDSA_SECP256R1_SHA256) => algorithms::ECDSA_P384_SHA256,
        (KeyKind::P384, Scheme::ECDSA_SECP384R1_SHA384) => algorithms::ECDSA_P384_SHA384,
        (KeyKind::P521, Scheme::ECDSA_SECP256R1_SHA256) => algorithms::ECDSA_P521_SHA256,
        (KeyKind::P521, Scheme::ECDSA_SECP384R1_SHA384) => algorithms::ECDSA_P521_SHA384,
        (KeyKind::Ed25519, Scheme::ED25519) => algorithms::ED25519,
        (KeyKind::Rsa { bits: 2048..=8192 }, scheme) => match scheme {
            Scheme::RSA_PSS_RSAE_SHA256 => algorithms::RSA_PSS_2048_8192_SHA256_LEGACY_KEY,
            Scheme::RSA_PSS_RSAE_SHA384 => algorithms::RSA_PSS_2048_8192_SHA384_LEGACY_KEY,
            Scheme::RSA_PSS_RSAE_SHA512 => algorithms::RSA_PSS_2048_8192_SHA512_LEGACY_KEY,
            Scheme::RSA_PKCS1_SHA256 => algorithms::RSA_PKCS1_2048_8192_SHA256,
            Scheme::RSA_PKCS1_SHA384 => algorithms::RSA_PKCS1_2048_8192_SHA384,
            Scheme::RSA_PKCS1_SHA512 => algorithms::RSA_PKCS1_2048_8192_SHA512,
            _ => return None,
        },
        _ => return None,
    })
}
