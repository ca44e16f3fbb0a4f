//! The cipher suites that the engine speaks, and what each one means.

use aws_lc_rs::{aead, digest, hmac, tls_prf};
use reprise_model::Version;
use reprise_wire::CipherSuite;

/// A cipher suite that the engine speaks.
#[derive(Debug, PartialEq, Eq)]
pub struct Suite {
    /// Its IANA number and name.
    pub id: CipherSuite,
    /// The version that it belongs to.
    pub version: Version,
    /// How keys are agreed on.
    pub key_exchange: KeyExchange,
    /// What kind of key the server's certificate holds.
    pub authentication: Authentication,
    /// The hash of transcript and key derivation.
    pub hash: Hash,
    /// How records are protected.
    pub aead: Aead,
}

/// How a suite agrees on keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyExchange {
    /// TLS 1.3: not the suite's business.
    Negotiated,
    /// TLS 1.2: ephemeral ECDH, signed by the certificate's key.
    Ecdhe,
    /// TLS 1.2: a premaster secret under the certificate's RSA key. No forward secrecy.
    Rsa,
}

/// What kind of key the server's certificate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// TLS 1.3: not the suite's business.
    Negotiated,
    /// TLS 1.2: ECDSA or EdDSA (RFC 8422 §2.1).
    Ecdsa,
    /// TLS 1.2: RSA.
    Rsa,
}

/// The hash of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
}

impl Hash {
    /// Bytes of its output.
    pub fn output_len(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
        }
    }

    pub(crate) fn digest(self) -> &'static digest::Algorithm {
        match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
        }
    }

    pub(crate) fn hmac(self) -> hmac::Algorithm {
        match self {
            Self::Sha256 => hmac::HMAC_SHA256,
            Self::Sha384 => hmac::HMAC_SHA384,
        }
    }

    pub(crate) fn prf(self) -> &'static tls_prf::Algorithm {
        match self {
            Self::Sha256 => &tls_prf::P_SHA256,
            Self::Sha384 => &tls_prf::P_SHA384,
        }
    }
}

/// How a suite protects records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aead {
    /// AES-128-GCM.
    Aes128Gcm,
    /// AES-256-GCM.
    Aes256Gcm,
    /// ChaCha20-Poly1305.
    ChaCha20Poly1305,
}

impl Aead {
    /// Bytes of its key.
    pub fn key_len(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
        }
    }

    pub(crate) fn algorithm(self) -> &'static aead::Algorithm {
        match self {
            Self::Aes128Gcm => &aead::AES_128_GCM,
            Self::Aes256Gcm => &aead::AES_256_GCM,
            Self::ChaCha20Poly1305 => &aead::CHACHA20_POLY1305,
        }
    }
}

/// Every suite that the engine speaks, the order of preference in which they are offered.
pub const SUITES: &[Suite] = {
    use Aead::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305};
    use Authentication::{Ecdsa, Rsa};
    use CipherSuite as Id;
    use Hash::{Sha256, Sha384};

    &[
        tls13(Id::TLS_AES_128_GCM_SHA256, Sha256, Aes128Gcm),
        tls13(Id::TLS_AES_256_GCM_SHA384, Sha384, Aes256Gcm),
        tls13(Id::TLS_CHACHA20_POLY1305_SHA256, Sha256, ChaCha20Poly1305),
        ecdhe(Id::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, Ecdsa, Sha256, Aes128Gcm),
        ecdhe(Id::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, Rsa, Sha256, Aes128Gcm),
        ecdhe(Id::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, Ecdsa, Sha384, Aes256Gcm),
        ecdhe(Id::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, Rsa, Sha384, Aes256Gcm),
        ecdhe(Id::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, Ecdsa, Sha256, ChaCha20Poly1305),
        ecdhe(Id::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, Rsa, Sha256, ChaCha20Poly1305),
        rsa(Id::TLS_RSA_WITH_AES_128_GCM_SHA256, Sha256, Aes128Gcm),
        rsa(Id::TLS_RSA_WITH_AES_256_GCM_SHA384, Sha384, Aes256Gcm),
    ]
};

/// The suite of this number, if the engine speaks it.
pub fn find(id: CipherSuite) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.id == id)
}

const fn tls13(id: CipherSuite, hash: Hash, aead: Aead) -> Suite {
    let (key_exchange, authentication) = (KeyExchange::Negotiated, Authentication::Negotiated);
    Suite { id, version: Version::Tls13, key_exchange, authentication, hash, aead }
}

const fn ecdhe(id: CipherSuite, authentication: Authentication, hash: Hash, aead: Aead) -> Suite {
    Suite { id, version: Version::Tls12, key_exchange: KeyExchange::Ecdhe, authentication, hash, aead }
}

const fn rsa(id: CipherSuite, hash: Hash, aead: Aead) -> Suite {
    let (key_exchange, authentication) = (KeyExchange::Rsa, Authentication::Rsa);
    Suite { id, version: Version::Tls12, key_exchange, authentication, hash, aead }
}
