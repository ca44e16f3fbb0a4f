//! The server's signature over the handshake.

use reprise_model::{PeerKey, Version};
use reprise_wire::SignatureScheme as Scheme;
use rustls_pki_types::SignatureVerificationAlgorithm;
use webpki::aws_lc_rs as algorithms;

use super::CertificateError;
use super::leaf_key::LeafKey;
use crate::error::{Error, Misbehaviour};

/// The schemes that can be verified, the order of preference in which they are offered.
pub const SIGNATURE_SCHEMES: &[Scheme] = &[
    Scheme::ECDSA_SECP256R1_SHA256,
    Scheme::ECDSA_SECP384R1_SHA384,
    Scheme::ED25519,
    Scheme::RSA_PSS_RSAE_SHA256,
    Scheme::RSA_PSS_RSAE_SHA384,
    Scheme::RSA_PSS_RSAE_SHA512,
    // For certificates, and for TLS 1.2 (RFC 9846 §4.3.3).
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
    if !SIGNATURE_SCHEMES.contains(&scheme) || !fits(version, key.kind, scheme) {
        return Err(Misbehaviour::UnofferedScheme(scheme).into());
    }
    let Some(algorithm) = algorithm(key.kind, scheme) else {
        return Err(CertificateError::UnsupportedKey(key.kind.to_string()).into());
    };
    algorithm.verify_signature(&key.bits, message, signature).map_err(|_| Misbehaviour::BadSignature.into())
}

/// Whether a key of this kind may sign in this scheme. TLS 1.3 ties an ECDSA scheme to its curve (RFC 9846 §4.3.3) and
/// forbids PKCS #1 v1.5; in TLS 1.2 a scheme names a hash and a kind of key only (RFC 5246 §7.4.1.4.1).
fn fits(version: Version, kind: PeerKey, scheme: Scheme) -> bool {
    match scheme {
        Scheme::ECDSA_SECP256R1_SHA256 if version == Version::Tls13 => kind == PeerKey::P256,
        Scheme::ECDSA_SECP384R1_SHA384 if version == Version::Tls13 => kind == PeerKey::P384,
        Scheme::ECDSA_SECP256R1_SHA256 | Scheme::ECDSA_SECP384R1_SHA384 => {
            matches!(kind, PeerKey::P256 | PeerKey::P384 | PeerKey::P521)
        }
        Scheme::ED25519 => kind == PeerKey::Ed25519,
        Scheme::RSA_PKCS1_SHA256 | Scheme::RSA_PKCS1_SHA384 | Scheme::RSA_PKCS1_SHA512 => {
            version == Version::Tls12 && matches!(kind, PeerKey::Rsa { .. })
        }
        _ => matches!(kind, PeerKey::Rsa { .. }),
    }
}

fn algorithm(kind: PeerKey, scheme: Scheme) -> Option<&'static dyn SignatureVerificationAlgorithm> {
    Some(match (kind, scheme) {
        (PeerKey::P256, Scheme::ECDSA_SECP256R1_SHA256) => algorithms::ECDSA_P256_SHA256,
        (PeerKey::P256, Scheme::ECDSA_SECP384R1_SHA384) => algorithms::ECDSA_P256_SHA384,
        (PeerKey::P384, Scheme::ECDSA_SECP256R1_SHA256) => algorithms::ECDSA_P384_SHA256,
        (PeerKey::P384, Scheme::ECDSA_SECP384R1_SHA384) => algorithms::ECDSA_P384_SHA384,
        (PeerKey::P521, Scheme::ECDSA_SECP256R1_SHA256) => algorithms::ECDSA_P521_SHA256,
        (PeerKey::P521, Scheme::ECDSA_SECP384R1_SHA384) => algorithms::ECDSA_P521_SHA384,
        (PeerKey::Ed25519, Scheme::ED25519) => algorithms::ED25519,
        (PeerKey::Rsa { bits: 2048..=8192 }, scheme) => match scheme {
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

#[cfg(test)]
mod tests {
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair,
        RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding,
        RsaKeyPair,
    };
    use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PKCS_RSA_SHA256};

    use super::*;

    const MESSAGE: &[u8] = b"what was signed";

    #[test]
    fn rsa_signs_in_every_scheme_and_in_pkcs1_under_tls12_alone() {
        let identity = identity(&PKCS_RSA_SHA256);
        let pair = RsaKeyPair::from_pkcs8(&identity.serialize_der()).unwrap();
        let schemes: [(Scheme, &'static dyn RsaEncoding); 6] = [
            (Scheme::RSA_PSS_RSAE_SHA256, &RSA_PSS_SHA256),
            (Scheme::RSA_PSS_RSAE_SHA384, &RSA_PSS_SHA384),
            (Scheme::RSA_PSS_RSAE_SHA512, &RSA_PSS_SHA512),
            (Scheme::RSA_PKCS1_SHA256, &RSA_PKCS1_SHA256),
            (Scheme::RSA_PKCS1_SHA384, &RSA_PKCS1_SHA384),
            (Scheme::RSA_PKCS1_SHA512, &RSA_PKCS1_SHA512),
        ];
        for (index, (scheme, encoding)) in schemes.into_iter().enumerate() {
            let mut signature = vec![0; pair.public_modulus_len()];
            pair.sign(encoding, &SystemRandom::new(), MESSAGE, &mut signature).unwrap();
            verifies_and_nothing_else_does(Version::Tls12, &identity, scheme, &signature);
            if index < 3 {
                verifies_and_nothing_else_does(Version::Tls13, &identity, scheme, &signature);
            } else {
                let verdict = verify_signature(Version::Tls13, &key(&identity), scheme, MESSAGE, &signature);
                assert_eq!(verdict, Err(Misbehaviour::UnofferedScheme(scheme).into()));
            }
        }
    }

    #[test]
    fn the_curves_sign_in_their_own_schemes() {
        let curves: [(&'static rcgen::SignatureAlgorithm, Scheme, &'static EcdsaSigningAlgorithm); 2] = [
            (&PKCS_ECDSA_P256_SHA256, Scheme::ECDSA_SECP256R1_SHA256, &ECDSA_P256_SHA256_ASN1_SIGNING),
            (&PKCS_ECDSA_P384_SHA384, Scheme::ECDSA_SECP384R1_SHA384, &ECDSA_P384_SHA384_ASN1_SIGNING),
        ];
        for (kind, scheme, algorithm) in curves {
            let identity = identity(kind);
            let pair = EcdsaKeyPair::from_pkcs8(algorithm, &identity.serialize_der()).unwrap();
            let signature = pair.sign(&SystemRandom::new(), MESSAGE).unwrap();
            for version in [Version::Tls12, Version::Tls13] {
                verifies_and_nothing_else_does(version, &identity, scheme, signature.as_ref());
            }
        }
        let identity = identity(&PKCS_ED25519);
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&identity.serialize_der()).unwrap();
        for version in [Version::Tls12, Version::Tls13] {
            verifies_and_nothing_else_does(version, &identity, Scheme::ED25519, pair.sign(MESSAGE).as_ref());
        }
    }

    #[test]
    fn in_tls13_a_scheme_names_its_curve_and_in_tls12_a_hash() {
        let (p256, p384) = (PeerKey::P256, PeerKey::P384);
        for (kind, scheme) in [(p256, Scheme::ECDSA_SECP384R1_SHA384), (p384, Scheme::ECDSA_SECP256R1_SHA256)] {
            assert!(!fits(Version::Tls13, kind, scheme));
            assert!(fits(Version::Tls12, kind, scheme) && algorithm(kind, scheme).is_some());
        }
    }

    #[test]
    fn a_key_that_the_library_refuses_says_so() {
        for kind in [PeerKey::Rsa { bits: 1024 }, PeerKey::Rsa { bits: 16384 }] {
            let key =
                LeafKey { kind, bits: Vec::new(), spki: Vec::new(), not_after: None, may_sign: true, may_encipher: true };
            let verdict = verify_signature(Version::Tls12, &key, Scheme::RSA_PSS_RSAE_SHA256, MESSAGE, &[]);
            assert_eq!(verdict, Err(CertificateError::UnsupportedKey(key.kind.to_string()).into()));
        }
    }

    fn verifies_and_nothing_else_does(version: Version, identity: &KeyPair, scheme: Scheme, signature: &[u8]) {
        let key = key(identity);
        let bad = Err(Misbehaviour::BadSignature.into());
        assert_eq!(verify_signature(version, &key, scheme, MESSAGE, signature), Ok(()), "{scheme}");
        assert_eq!(verify_signature(version, &key, scheme, b"something else", signature), bad);
        assert_eq!(verify_signature(version, &key, scheme, MESSAGE, &[]), bad);
        for &other in SIGNATURE_SCHEMES.iter().filter(|other| **other != scheme) {
            let verdict = verify_signature(version, &key, other, MESSAGE, signature);
            assert!(verdict == bad || verdict == Err(Misbehaviour::UnofferedScheme(other).into()), "{scheme} as {other}");
        }
    }

    fn identity(algorithm: &'static rcgen::SignatureAlgorithm) -> KeyPair {
        KeyPair::generate_for(algorithm).unwrap()
    }

    fn key(identity: &KeyPair) -> LeafKey {
        LeafKey::of(rcgen::CertificateParams::default().self_signed(identity).unwrap().der()).unwrap()
    }
}
