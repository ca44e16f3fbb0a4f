//! What was negotiated on one connection, as numbers of fixed size: IANA's, without their names.

use std::fmt;

use crate::{ClientAuthentication, EarlyData, Kind, Nanos, PskMode, Verification, Version};

/// What an endpoint knows of its connection. Names of numbers are given where a document is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The version that the server chose.
    pub version: Version,
    /// The observed kind.
    pub kind: Kind,
    /// The cipher suite (IANA "TLS Cipher Suites").
    pub cipher: u16,
    /// The group of the key exchange (IANA "TLS Supported Groups"); `None` where there was none.
    pub group: Option<u16>,
    /// The scheme in which the server signed (IANA "TLS SignatureScheme"); `None` where it signed nothing.
    pub signature: Option<u16>,
    /// The public key of the server's certificate; `None` where none was sent.
    pub peer_key: Option<PeerKey>,
    /// The certificates that the server sent; `None` where none was sent or looked at.
    pub chain: Option<CertificateChain>,
    /// SHA-256 of the server's certificate, DER; `None` where none was sent.
    pub leaf: Option<[u8; 32]>,
    /// Seconds for which that certificate was still valid by then; `None` where none was sent or read.
    pub leaf_left_s: Option<u64>,
    /// Bytes of the server's certificates, DER, together; `None` where none was sent.
    pub certificate_bytes: Option<u32>,
    /// How its certificates were compressed (RFC 8879); `None` where they were not.
    pub certificate_compression: Option<CertificateCompression>,
    /// The last bytes of the server's key share, by which one that comes twice is known; `None` where there was none.
    pub key_share: Option<[u8; 8]>,
    /// How a TLS 1.3 PSK was used.
    pub psk_mode: Option<PskMode>,
    /// The protocol that ALPN chose.
    pub alpn: Option<Protocol>,
    /// Whether the server's certificate was verified on this connection.
    pub verification: Verification,
    /// What happened to client authentication on this connection.
    pub client_authentication: ClientAuthentication,
    /// TLS 1.2: whether the extended master secret was used (RFC 7627). TLS 1.3 has always the equivalent.
    pub extended_master_secret: bool,
    /// The HelloRetryRequest that cost another round trip; `None` where none came.
    pub hello_retry: Option<HelloRetry>,
    /// What became of early data; `None` where none was offered.
    pub early_data: Option<EarlyData>,
    /// Whether a session or an external PSK was offered, whatever became of it.
    pub session_offered: bool,
    /// The tickets that the server gave so far.
    pub tickets: Tickets,
    /// How many tickets the server said it would send (RFC 9149); `None` where it was not asked or did not say.
    pub tickets_promised: Option<u8>,
    /// Whether the server gave a session ID under TLS 1.2 that a later connection may offer.
    pub session_id_given: bool,
}

impl Facts {
    /// Those of a full handshake of which nothing is known yet but version and suite.
    pub fn of_choice(version: Version, cipher: u16) -> Self {
        Self {
            version,
            kind: Kind::Full,
            cipher,
            group: None,
            signature: None,
            peer_key: None,
            chain: None,
            leaf: None,
            leaf_left_s: None,
            certificate_bytes: None,
            certificate_compression: None,
            key_share: None,
            psk_mode: None,
            alpn: None,
            verification: Verification::Inherited,
            client_authentication: ClientAuthentication::NotRequested,
            extended_master_secret: version == Version::Tls13,
            hello_retry: None,
            early_data: None,
            session_offered: false,
            tickets: Tickets::default(),
            tickets_promised: None,
            session_id_given: false,
        }
    }
}

/// A HelloRetryRequest, by its groups (IANA "TLS Supported Groups").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloRetry {
    /// The groups of the key shares in the first ClientHello.
    pub shared: SharedGroups,
    /// The group whose key share was asked for; `None` where only a cookie was to come back.
    pub wanted: Option<u16>,
}

impl HelloRetry {
    /// The groups on both sides, where the server asked for another one than the client had shared.
    pub fn groups(self) -> Option<(SharedGroups, u16)> {
        (!self.shared.is_empty()).then_some(self.shared).zip(self.wanted)
    }
}

/// The groups of the key shares of a ClientHello, in their order: clients share one to three, and of more the first three are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedGroups([Option<u16>; 3]);

impl SharedGroups {
    /// From their numbers.
    pub fn of(groups: impl IntoIterator<Item = u16>) -> Self {
        let mut kept = [None; 3];
        kept.iter_mut().zip(groups).for_each(|(place, group)| *place = Some(group));
        Self(kept)
    }

    /// Their numbers.
    pub fn iter(self) -> impl Iterator<Item = u16> {
        self.0.into_iter().flatten()
    }

    /// Whether there was none.
    pub fn is_empty(self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// The certificates that a server sent, its own first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateChain {
    /// How many.
    pub certificates: u8,
    /// The sum of their DER, in bytes.
    pub bytes: u32,
    /// Whether the last of several is issued by itself: a root, which clients have already or do not trust.
    pub has_root: bool,
}

/// A Certificate message that was compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateCompression {
    /// The algorithm (IANA "TLS Certificate Compression Algorithm IDs").
    pub algorithm: u16,
    /// Bytes of it on the wire.
    pub compressed: u32,
    /// Bytes of the message that it stands for.
    pub uncompressed: u32,
}

/// The public key of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PeerKey {
    /// RSA, with the length of its modulus.
    Rsa {
        /// Bits.
        bits: u16,
    },
    /// RSA that signs in RSASSA-PSS alone.
    RsaPss,
    /// secp256r1.
    P256,
    /// secp384r1.
    P384,
    /// secp521r1.
    P521,
    /// RFC 8410.
    Ed25519,
    /// RFC 8410.
    Ed448,
    /// Another, or one that cannot be read.
    Unknown,
}

impl fmt::Display for PeerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa { bits } => write!(f, "rsa-{bits}"),
            Self::RsaPss => f.pad("rsa-pss"),
            Self::P256 => f.pad("p-256"),
            Self::P384 => f.pad("p-384"),
            Self::P521 => f.pad("p-521"),
            Self::Ed25519 => f.pad("ed25519"),
            Self::Ed448 => f.pad("ed448"),
            Self::Unknown => f.pad("unknown"),
        }
    }
}

/// A protocol's name in ALPN, in place. Names longer than 15 bytes, which IANA knows none of that is common, are cut.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Protocol {
    length: u8,
    bytes: [u8; 15],
}

impl Protocol {
    /// From the name on the wire.
    pub fn new(name: &[u8]) -> Self {
        let mut bytes = [0; 15];
        let length = name.len().min(bytes.len());
        bytes[..length].copy_from_slice(&name[..length]);
        Self { length: length as u8, bytes }
    }

    /// The name.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(self.as_bytes()))
    }
}

impl fmt::Debug for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.as_bytes()))
    }
}

/// The tickets of one connection: all are counted, the first four are described.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tickets {
    /// How many came.
    pub count: u32,
    first: [Option<Ticket>; 4],
}

impl Tickets {
    /// So many, of which nothing else is known.
    pub fn counted(count: u32) -> Self {
        Self { count, ..Self::default() }
    }

    /// Adds one.
    pub fn add(&mut self, ticket: Ticket) {
        if let Some(place) = self.first.get_mut(self.count as usize) {
            *place = Some(ticket);
        }
        self.count = self.count.saturating_add(1);
    }

    /// The first of them, at most four.
    pub fn iter(&self) -> impl Iterator<Item = &Ticket> {
        self.first.iter().flatten()
    }
}

/// One ticket, but for its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// When it came, by the clock of the connection's driver.
    pub at: Nanos,
    /// Bytes.
    pub length: u16,
    /// Its first bytes, in which many servers name the key that sealed it.
    pub key_name: TicketKeyName,
    /// Seconds, as the server said it: the lifetime of TLS 1.3, the hint of TLS 1.2.
    pub lifetime_s: u32,
    /// The most bytes of early data that it allows; `None` for none.
    pub max_early_data: Option<u32>,
}

/// The bytes of a key share by which it is known: its last, since a point of the NIST curves begins alike.
pub fn key_share_ending(share: &[u8]) -> Option<[u8; 8]> {
    share.last_chunk().copied()
}

impl Ticket {
    /// Whether it holds its session: then it has at least a key name, a nonce, the secret and a tag. A shorter one only names a
    /// session that the server keeps.
    pub fn holds_its_session(&self) -> bool {
        self.length >= 100
    }
}

/// The first 16 bytes of a ticket, with which OpenSSL's family and rustls name the key; zeros follow a shorter one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TicketKeyName(pub [u8; 16]);

impl TicketKeyName {
    /// Of this ticket.
    pub fn of(ticket: &[u8]) -> Self {
        let mut name = [0; 16];
        let length = ticket.len().min(name.len());
        name[..length].copy_from_slice(&ticket[..length]);
        Self(name)
    }
}

impl fmt::Display for TicketKeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
