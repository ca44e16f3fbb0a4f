use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::Ed25519KeyPair;
use rcgen::{KeyPair, RsaKeySize};
use rustls_pki_types::PrivatePkcs8KeyDer;

use crate::{LabError, Result};

/// The kinds of key that the lab makes certificates for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyKind {
    /// RSA with a modulus of 2048 bits.
    Rsa2048,
    /// RSA with a modulus of 3072 bits.
    Rsa3072,
    /// RSA with a modulus of 4096 bits.
    Rsa4096,
    /// ECDSA on secp256r1.
    P256,
    /// ECDSA on secp384r1.
    P384,
    /// Ed25519.
    Ed25519,
    /// ML-DSA-44 (FIPS 204), of TLS 1.3 alone.
    MlDsa44,
    /// ML-DSA-65, likewise.
    MlDsa65,
}

impl KeyKind {
    /// Every kind but ML-DSA, which few libraries verify; weakest RSA first.
    pub const ALL: [Self; 6] = [Self::Rsa2048, Self::Rsa3072, Self::Rsa4096, Self::P256, Self::P384, Self::Ed25519];

    /// The name used in results and file names, such as `rsa-2048` or `p-256`.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Rsa2048 => "rsa-2048",
            Self::Rsa3072 => "rsa-3072",
            Self::Rsa4096 => "rsa-4096",
            Self::P256 => "p-256",
            Self::P384 => "p-384",
            Self::Ed25519 => "ed25519",
            Self::MlDsa44 => "ml-dsa-44",
            Self::MlDsa65 => "ml-dsa-65",
        }
    }

    /// Whether the key is an RSA key, which also serves TLS 1.2 suites without ephemeral key exchange.
    #[must_use]
    pub fn is_rsa(self) -> bool {
        matches!(self, Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096)
    }

    pub(crate) fn generate(self) -> Result<KeyPair> {
        let rsa = |size| KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, size);
        Ok(match self {
            Self::Rsa2048 => rsa(RsaKeySize::_2048)?,
            Self::Rsa3072 => rsa(RsaKeySize::_3072)?,
            Self::Rsa4096 => rsa(RsaKeySize::_4096)?,
            Self::P256 => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?,
            Self::P384 => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384)?,
            Self::Ed25519 => self.generate_ed25519()?,
            Self::MlDsa44 => KeyPair::generate_for(&rcgen::PKCS_ML_DSA_44)?,
            Self::MlDsa65 => KeyPair::generate_for(&rcgen::PKCS_ML_DSA_65)?,
        })
    }

    /// rcgen would write PKCS #8 version 2 (RFC 5958, with the public key), which OpenSSL 3.0 cannot read.
    fn generate_ed25519(self) -> Result<KeyPair> {
        let refused = |_| LabError::Key(self.label());
        let document = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).map_err(refused)?;
        let pkcs8 = PrivatePkcs8KeyDer::from(document.as_ref());
        Ok(KeyPair::from_pkcs8_der_and_sign_algo(&pkcs8, &rcgen::PKCS_ED25519)?)
    }
}

impl std::fmt::Display for KeyKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.label())
    }
}
