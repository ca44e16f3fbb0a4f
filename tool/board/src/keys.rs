//! The keys and certificates that boards are measured with. Everybody knows them: they protect nothing. They are the same
//! in every run, because what RSA costs depends on the key.

use reprise_wire::NamedGroup;
use serde::{Deserialize, Serialize};

/// The name that clients ask for, and that the certificates are for.
pub const NAME: &str = "board.example";

/// The key of a server's certificate; self-signed, for [`NAME`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BoardKey {
    /// RSA with 1024 bits, which nobody should use any more; the RP2040 report's board did.
    #[serde(rename = "rsa-1024")]
    Rsa1024,
    /// RSA with 2048 bits.
    #[serde(rename = "rsa-2048")]
    Rsa2048,
    /// ECDSA on P-256.
    #[serde(rename = "p-256")]
    P256,
    /// ECDSA on P-384.
    #[serde(rename = "p-384")]
    P384,
}

impl BoardKey {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rsa1024, Self::Rsa2048, Self::P256, Self::P384];

    /// `rsa-2048`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rsa1024 => "rsa-1024",
            Self::Rsa2048 => "rsa-2048",
            Self::P256 => "p-256",
            Self::P384 => "p-384",
        }
    }

    /// The curve of an ECDSA key.
    pub fn curve(self) -> Option<NamedGroup> {
        match self {
            Self::Rsa1024 | Self::Rsa2048 => None,
            Self::P256 => Some(NamedGroup::SECP256R1),
            Self::P384 => Some(NamedGroup::SECP384R1),
        }
    }

    /// The certificate, PEM.
    pub fn certificate(self) -> &'static str {
        match self {
            Self::Rsa1024 => include_str!("../keys/rsa1024.crt"),
            Self::Rsa2048 => include_str!("../keys/rsa2048.crt"),
            Self::P256 => include_str!("../keys/p256.crt"),
            Self::P384 => include_str!("../keys/p384.crt"),
        }
    }

    /// The private key, PEM.
    pub fn private_key(self) -> &'static str {
        match self {
            Self::Rsa1024 => include_str!("../keys/rsa1024.key"),
            Self::Rsa2048 => include_str!("../keys/rsa2048.key"),
            Self::P256 => include_str!("../keys/p256.key"),
            Self::P384 => include_str!("../keys/p384.key"),
        }
    }
}
