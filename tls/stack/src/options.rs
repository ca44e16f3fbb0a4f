//! What a context is to be.

use reprise_model::{KeyPairs, PskMode, Version};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, UnixTime};

use crate::StackError;

/// Which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It begins.
    Client,
    /// It answers.
    Server,
}

/// How sessions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionMode {
    /// Not at all.
    Off,
    /// By the server, under session IDs (TLS 1.2).
    Id,
    /// In tickets.
    Ticket,
}

/// A certificate chain, leaf first, with the key of its leaf, each in PEM.
#[derive(Clone, Copy)]
pub struct Pem<'a> {
    /// The chain, without the root.
    pub chain: &'a str,
    /// PKCS #8, not encrypted.
    pub key: &'a str,
}

impl Pem<'_> {
    /// Chain and key, for libraries in Rust.
    pub(crate) fn read(self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), StackError> {
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes());
        let key = key.map_err(|error| StackError::refused("private key", error))?;
        Ok((certificates("certificate chain", self.chain)?, key))
    }
}

/// The certificates of a text in PEM, for libraries in Rust.
pub(crate) fn certificates(what: &'static str, pem: &str) -> Result<Vec<CertificateDer<'static>>, StackError> {
    let certificates = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>();
    certificates.map_err(|error| StackError::refused(what, error))
}

/// A PSK that was agreed on outside TLS (RFC 4279; RFC 9846 §4.3.11). Under TLS 1.3 it is of the hash of the first suite.
#[derive(Clone, Copy)]
pub struct StackPsk<'a> {
    /// Its name: no zero is in it.
    pub identity: &'a str,
    /// The key.
    pub key: &'a [u8],
}

/// What a context is to be. It speaks what is listed here and nothing else.
#[derive(Clone, Copy)]
pub struct ContextOptions<'a> {
    /// Which side.
    pub side: Side,
    /// The only version.
    pub version: Version,
    /// How sessions are kept.
    pub sessions: SessionMode,
    /// The only suites, by IANA's numbers, the preferred first.
    pub suites: &'a [u16],
    /// The only groups, likewise.
    pub groups: &'a [u16],
    /// The own certificate: always a server's, unless there is a PSK.
    pub identity: Option<Pem<'a>>,
    /// The roots in PEM that the peer's chain must lead to: always a client's, unless there is a PSK.
    pub trust: Option<&'a str>,
    /// A server's: whether a client without a certificate is refused. Without trust it asks for none.
    pub require_client_certificate: bool,
    /// A client's: the name that it asks for, and that the certificate must be valid for.
    pub server_name: &'a str,
    /// By what both sides are authenticated in place of certificates.
    pub psk: Option<StackPsk<'a>>,
    /// TLS 1.3: how a ticket or an external PSK is used. A client offers it, perhaps beside another; a server chooses it where it is offered.
    pub psk_mode: PskMode,
    /// Bytes of early data that a server's tickets allow and that it accepts; a client sends none where it is 0.
    pub max_early_data: u32,
    /// A server's: where its ephemeral key pairs come from. Those made ahead come from [`Context::pregenerate`](crate::Context::pregenerate).
    pub key_pairs: KeyPairs,
    /// The most bytes of data in a record of either side, which a client asks for (RFC 6066 §4, RFC 8449). `None`: what TLS allows.
    pub max_fragment: Option<u16>,
    /// Whether idle connections give back what the library has a mode or a call to give back.
    pub releases_buffers: bool,
    /// A client's, under TLS 1.3: whether it makes a key share of each of its groups, and not of the preferred alone.
    pub shares_all_groups: bool,
    /// A client's: whether it skips the verification of a chain that it has verified before, for the same name.
    pub remembers_chains: bool,
    /// The date by which the engine judges certificates; other libraries ask the system.
    pub date: UnixTime,
}
