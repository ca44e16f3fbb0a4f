//! What a handshake came to.

use serde::{Deserialize, Serialize};

use crate::{Kind, PskMode, Version};

/// What was negotiated on one connection and how its keys came about. Names are IANA's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// The version that the server chose.
    pub version: Version,
    /// The observed kind.
    pub kind: Kind,
    /// The cipher suite, `TLS_AES_128_GCM_SHA256`.
    pub cipher: String,
    /// The group of the key exchange, `x25519`; `None` where there was none (TLS 1.2 resumption, RSA key exchange, psk_ke).
    pub group: Option<String>,
    /// The scheme in which the server signed, `ecdsa_secp256r1_sha256`; `None` where it signed nothing.
    pub signature: Option<String>,
    /// The public key of the server's certificate, `rsa-2048`, `p-256`; `None` where none was sent.
    pub peer_key: Option<String>,
    /// How many certificates the server sent; absent where none was sent or looked at, and in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificates: Option<u8>,
    /// Their DER in bytes; absent likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_bytes: Option<u32>,
    /// How a TLS 1.3 PSK was used.
    pub psk_mode: Option<PskMode>,
    /// The protocol that ALPN chose.
    pub alpn: Option<String>,
    /// Whether the server's certificate was verified on this connection.
    pub verification: Verification,
    /// What happened to client authentication on this connection.
    pub client_authentication: ClientAuthentication,
    /// TLS 1.2: whether the extended master secret was used (RFC 7627). TLS 1.3 has always the equivalent.
    pub extended_master_secret: bool,
    /// Whether a HelloRetryRequest cost another round trip.
    pub hello_retry_request: bool,
    /// What it asked for; absent where none came, and in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hello_retry: Option<HelloRetryRecord>,
    /// What became of early data; `None` where none was offered.
    pub early_data: Option<EarlyData>,
    /// Whether a session or an external PSK was offered, whatever became of it.
    pub session_offered: bool,
    /// Tickets received so far.
    pub tickets: u32,
    /// How many tickets the server said it would send (RFC 9149); `None` where it was not asked or did not say.
    pub tickets_promised: Option<u8>,
    /// Whether the server gave a session ID under TLS 1.2 that a later connection may offer.
    pub session_id_given: bool,
}

/// A HelloRetryRequest, by the names of its groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelloRetryRecord {
    /// The group whose key share was asked for; null where only a cookie was to come back.
    pub group: Option<String>,
    /// The group of the key share in the first ClientHello, or the groups with "and" between them; null where it had none.
    pub shared: Option<String>,
}

named! {
    /// Whether the server's certificate was verified.
    pub enum Verification {
        /// Chain, name and signature.
        Verified = "verified",
        /// Skipped on request (`--insecure`); the signature over the handshake was still checked.
        ChainSkipped = "chain_skipped",
        /// Skipped on request, and the signature could not be checked either: the key is one that the crypto library refuses.
        SignatureUnverified = "signature_unverified",
        /// No certificate was sent: the session's own holds, or the external PSK authenticates both sides.
        Inherited = "inherited",
    }
}

named! {
    /// What happened to client authentication on one connection.
    pub enum ClientAuthentication {
        /// The server asked for no certificate.
        NotRequested = "not_requested",
        /// The server asked and the client had none: an empty Certificate was sent.
        RequestedNoneSent = "requested_none_sent",
        /// The server asked and the client sent its certificate and signed.
        Sent = "sent",
    }
}

named! {
    /// What became of early data (RFC 9846 §4.3.10).
    pub enum EarlyData {
        /// The server took it.
        Accepted = "accepted",
        /// The server skipped it.
        Rejected = "rejected",
    }
}
