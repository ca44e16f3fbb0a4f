//! The key of a certificate.

use std::fmt;
use std::str::FromStr;

use reprise_lab::KeyKind;
use reprise_wire::NamedGroup;
use serde::{Deserialize, Serialize};

/// The key of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Key {
    /// RSA with 1024 bits, which no current client trusts: old boards have it.
    Rsa1024,
    /// What the lab makes.
    Lab(KeyKind),
    /// No certificate: both sides have an external PSK.
    None,
    /// ML-DSA-65, and an intermediate between the leaf and the root, which is sent too: as on the public web.
    MlDsa65Chain,
    /// ECDSA on secp256r1, signed by a root of ML-DSA-65.
    P256ByMlDsa65,
}

impl Key {
    /// Every key of a certificate, RSA first.
    pub const ALL: [Self; 11] = [
        Self::Rsa1024,
        Self::Lab(KeyKind::Rsa2048),
        Self::Lab(KeyKind::Rsa3072),
        Self::Lab(KeyKind::Rsa4096),
        Self::P256,
        Self::Lab(KeyKind::P384),
        Self::Lab(KeyKind::Ed25519),
        Self::ML_DSA_44,
        Self::ML_DSA_65,
        Self::MlDsa65Chain,
        Self::P256ByMlDsa65,
    ];
    /// ECDSA on secp256r1.
    pub const P256: Self = Self::Lab(KeyKind::P256);
    /// RSA with 2048 bits.
    pub const RSA_2048: Self = Self::Lab(KeyKind::Rsa2048);
    /// ECDSA on secp384r1.
    pub const P384: Self = Self::Lab(KeyKind::P384);

    /// ML-DSA-44.
    pub const ML_DSA_44: Self = Self::Lab(KeyKind::MlDsa44);
    /// ML-DSA-65.
    pub const ML_DSA_65: Self = Self::Lab(KeyKind::MlDsa65);

    /// Its name in flags and documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rsa1024 => "rsa-1024",
            Self::Lab(kind) => kind.label(),
            Self::None => "none",
            Self::MlDsa65Chain => "ml-dsa-65-chain",
            Self::P256ByMlDsa65 => "p-256-by-ml-dsa-65",
        }
    }

    /// The curve that an ECDSA key is on.
    pub(crate) fn curve(self) -> Option<NamedGroup> {
        match self {
            Self::Lab(KeyKind::P256) => Some(NamedGroup::SECP256R1),
            Self::Lab(KeyKind::P384) => Some(NamedGroup::SECP384R1),
            _ => None,
        }
    }

    /// Whether it is RSA.
    pub fn is_rsa(self) -> bool {
        match self {
            Self::Rsa1024 => true,
            Self::Lab(kind) => kind.is_rsa(),
            Self::None | Self::MlDsa65Chain | Self::P256ByMlDsa65 => false,
        }
    }

    /// Whether its chain has a signature of ML-DSA, which TLS 1.2 has not.
    pub fn has_ml_dsa(self) -> bool {
        matches!(self, Self::ML_DSA_44 | Self::ML_DSA_65 | Self::MlDsa65Chain | Self::P256ByMlDsa65)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|key| key.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|key| key.name()).collect();
            format!("unknown key '{name}'; known: {}", known.join(", "))
        })
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.name().to_owned()
    }
}

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name == Self::None.name() { Ok(Self::None) } else { name.parse() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_by_the_name_that_it_has() {
        for key in Key::ALL {
            assert_eq!(key.name().parse(), Ok(key));
        }
        assert!("rsa".parse::<Key>().unwrap_err().contains("rsa-2048"));
    }
}
