//! The kind of a handshake: what was observed, never what was asked.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

named! {
    /// How a connection's keys came about.
    pub enum Kind {
        /// A handshake with certificates.
        Full = "full",
        /// TLS 1.2, abbreviated by session ID (RFC 5246 §7.3). Never under TLS 1.3, where an echoed `legacy_session_id`
        /// proves nothing.
        Id = "id",
        /// TLS 1.2, abbreviated by an RFC 5077 ticket; TLS 1.3, a PSK from a NewSessionTicket, whatever its size.
        Ticket = "ticket",
        /// TLS 1.3, an external PSK; in comparisons of stacks also the PSK suites of TLS 1.2 (RFC 4279, RFC 5489).
        Psk = "psk",
        /// TLS 1.3, a resumption whose early data was accepted.
        Early = "early",
    }
}

impl Kind {
    /// The one version that knows this kind; `None` where both do. Under TLS 1.3 there are no session IDs, only echoes of them;
    /// under TLS 1.2 PSKs are of another kind (RFC 4279).
    pub fn only_version(self) -> Option<Version> {
        match self {
            Self::Full | Self::Ticket => None,
            Self::Id => Some(Version::Tls12),
            Self::Psk | Self::Early => Some(Version::Tls13),
        }
    }

    /// Whether it takes up a session of an earlier connection: neither a full handshake does, nor an external PSK.
    pub fn is_resumption(self) -> bool {
        !matches!(self, Self::Full | Self::Psk)
    }

    /// Whether this version knows it.
    pub fn exists_under(self, version: Version) -> bool {
        self.only_version().is_none_or(|only| only == version)
    }
}

impl FromStr for Kind {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        Self::of_name(name).ok_or_else(|| format!("unknown kind '{name}': use full, id, ticket, psk or early"))
    }
}

named! {
    /// How a TLS 1.3 PSK was combined with a key exchange (RFC 9846 §4.3.9).
    pub enum PskMode {
        /// PSK with (EC)DHE key establishment.
        PskDheKe = "psk_dhe_ke",
        /// PSK alone: no forward secrecy.
        PskKe = "psk_ke",
    }
}

/// A protocol version that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Version {
    /// TLS 1.2, RFC 5246.
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3, RFC 9846.
    #[serde(rename = "1.3")]
    Tls13,
}

impl Version {
    /// The number alone: `1.2` or `1.3`, as in options and in `asked`.
    pub fn number(self) -> &'static str {
        match self {
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TLS {}", self.number())
    }
}

impl FromStr for Version {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        match name.trim_start_matches("TLS").trim_start_matches(['v', ' ']) {
            "1.2" => Ok(Self::Tls12),
            "1.3" => Ok(Self::Tls13),
            _ => Err(format!("unknown version '{name}': use 1.2 or 1.3")),
        }
    }
}

/// What a connection was made for. What came of it is the [`Kind`] of its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Asked {
    /// The only version that was offered.
    pub tls: Version,
    /// The kind that was hoped for.
    pub kind: Kind,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tls, self.kind)
    }
}

/// How many connections of each observed kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct KindCounts(pub BTreeMap<Kind, u64>);

impl KindCounts {
    /// Counts one more connection of this kind.
    pub fn add(&mut self, kind: Kind) {
        *self.0.entry(kind).or_default() += 1;
    }

    /// How many there were of this kind.
    pub fn of(&self, kind: Kind) -> u64 {
        self.0.get(&kind).copied().unwrap_or_default()
    }

    /// How many there were of all kinds. A file may claim any counts: their sum has an end.
    pub fn total(&self) -> u64 {
        self.0.values().copied().fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_written_and_read_by_one_name() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert!("resumed".parse::<Kind>().unwrap_err().contains("resumed"));
    }

    #[test]
    fn a_version_is_read_as_openssl_and_as_the_rfc_write_it() {
        for name in ["1.3", "TLS1.3", "TLSv1.3", "TLS 1.3"] {
            assert_eq!(name.parse(), Ok(Version::Tls13));
        }
        assert!("1.1".parse::<Version>().is_err());
    }
}
