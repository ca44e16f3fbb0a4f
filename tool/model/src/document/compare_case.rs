//! A handshake, or a transfer of data, that `reprise compare` measures.

use serde::{Deserialize, Serialize};

use crate::{KeyPairs, Kind, PskMode, ServerChain, Version};

/// A handshake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareCase {
    /// The version.
    pub tls: Version,
    /// Full, by an external PSK, or how it is resumed.
    pub kind: Kind,
    /// The key of the certificates; `none` where an external PSK is in their place.
    pub key: String,
    /// The group, IANA's name. Where a resumed handshake has none, that of its session; `none` where a PSK of TLS 1.2 is used without one.
    pub group: String,
    /// The suite, IANA's name.
    pub cipher: String,
    /// Whether the client is authenticated too.
    pub mutual: bool,
    /// How a PSK of TLS 1.3, from a ticket or external, is used; null in other handshakes.
    #[serde(default)]
    pub psk_mode: Option<PskMode>,
    /// Bytes that the client sends in the span that is measured: as early data, or once its handshake is complete. 0: none.
    #[serde(default)]
    pub request: u64,
    /// The data of a transfer, which is then what is measured, in place of the handshake; null in handshakes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bulk: Option<CompareBulk>,
    /// Where the server's ephemeral key pair comes from.
    #[serde(default)]
    pub key_pairs: KeyPairs,
    /// The server's certificates, and what the client knows of them before.
    #[serde(default)]
    pub chain: ServerChain,
    /// Whether the client's key share is of a group that the server has not, and a HelloRetryRequest makes it send another.
    #[serde(default)]
    pub retried: bool,
    /// The most bytes of data in a record of either side, which the client asks for by max_fragment_length (RFC 6066) or record_size_limit
    /// (RFC 8449); absent where it asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_fragment: Option<u64>,
    /// Whether idle connections give back what the library has a mode or a call to give back.
    #[serde(default)]
    pub releases_buffers: bool,
    /// Whether the client has a key share of X25519MLKEM768 too, which it prefers and the server has not; absent where not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hybrid_share: bool,
}

impl CompareCase {
    /// Of bulk data: whether the library may use what this CPU has for AES.
    pub fn hardware(&self) -> Option<bool> {
        self.bulk.as_ref().map(|bulk| bulk.hardware)
    }

    /// Of bulk data: bytes of data in each record.
    pub fn record(&self) -> Option<u64> {
        self.bulk.as_ref().map(|bulk| bulk.record)
    }
}

/// Application data that one side sends to the other. Both sides' CPU time, the bytes and the number of connections of such a row are those
/// of transfers, all over one connection, whose handshake is not in them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareBulk {
    /// Who sends it.
    pub sender: BulkSender,
    /// Bytes of one transfer.
    pub bytes: u64,
    /// Bytes of data in each record (RFC 8449 limits these and, under TLS 1.3, one byte more).
    pub record: u64,
    /// Whether the library may use what this CPU has for AES; false where the run told it not to.
    pub hardware: bool,
}

named! {
    /// Who sends bulk data.
    pub enum BulkSender {
        /// The client.
        Client = "client",
        /// The server.
        Server = "server",
    }
}
