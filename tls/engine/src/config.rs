//! What a connection may negotiate.

use std::sync::Arc;

use reprise_model::{PskMode, Version};
use reprise_wire::extensions::TicketRequest;
use reprise_wire::{CertificateCompressionAlgorithm, CipherSuite, NamedGroup, SignatureScheme};
use rustls_pki_types::ServerName;
use zeroize::Zeroizing;

use crate::client_auth::ClientIdentity;
use crate::error::Error;
use crate::hello_form::{HelloExtension, HelloForm};
use crate::hello_shape::HelloShape;
use crate::key_log::KeyLog;
use crate::key_share::{EcdhKeyShare, KeyShares};
use crate::suite::SUITES;
use crate::verify::{CertificatePolicy, SIGNATURE_SCHEMES};

/// What all connections to one target have in common.
#[derive(Clone)]
pub struct Config {
    /// The versions that are offered.
    pub versions: Vec<Version>,
    /// The suites that are offered, in order of preference; those of other versions are left out.
    pub cipher_suites: Vec<CipherSuite>,
    /// The groups that are offered, in order of preference.
    pub groups: Vec<NamedGroup>,
    /// Those of the groups that get a key share in the first ClientHello of TLS 1.3; where it is empty, the first of them does.
    pub key_share_groups: Vec<NamedGroup>,
    /// The name that the certificate must be valid for.
    pub server_name: ServerName<'static>,
    /// The name that is sent in server_name; `None` sends none (an address is never sent, RFC 6066 §3).
    pub sni: Option<String>,
    /// The protocols that are offered by ALPN, in order of preference.
    pub alpn: Vec<Vec<u8>>,
    /// What a ClientHello of TLS 1.3 says of PSKs and tickets.
    pub tls13: Tls13Extensions,
    /// What a ClientHello looks like beside what it offers.
    pub shape: HelloShape,
    /// The form in which another client would offer the same; `None` for the engine's own.
    pub form: Option<Arc<HelloForm>>,
    /// What to do with the server's certificate.
    pub certificates: CertificatePolicy,
    /// What undoes the compression of certificates, where the form offers it (RFC 8879).
    pub decompressor: Option<Arc<dyn Decompress>>,
    /// The client's own certificate.
    pub identity: Option<Arc<ClientIdentity>>,
    /// Where key shares come from.
    pub key_shares: Arc<dyn KeyShares>,
    /// Where all other randomness comes from.
    pub entropy: Arc<dyn Entropy>,
    /// Who is told the secrets.
    pub key_log: Option<Arc<dyn KeyLog>>,
    /// Offers also what is not spoken here, so that a server that can do nothing else reveals what it would choose: the
    /// connection then fails with [`Error::Unspoken`]. Not for measuring.
    pub survey: bool,
    /// The schemes that are offered in signature_algorithms, in order of preference: of [`SIGNATURE_SCHEMES`](crate::SIGNATURE_SCHEMES), those that
    /// the server may sign in.
    pub signature_schemes: Vec<SignatureScheme>,
    /// What to do about a server that breaks a rule and can be understood all the same.
    pub strictness: Strictness,
    /// Whether a HelloRetryRequest is answered; otherwise the connection ends with [`Error::RetryRequested`].
    pub answers_retry: bool,
    /// Whether messages are recorded, for [`Connection::events`](crate::Connection::events).
    pub records_events: bool,
    /// Whether the bytes of each handshake message are kept, for [`Connection::messages`](crate::Connection::messages).
    pub keeps_messages: bool,
}

impl Config {
    /// The groups that get a key share in the first ClientHello of TLS 1.3.
    pub(crate) fn shared_groups(&self) -> &[NamedGroup] {
        match self.key_share_groups.as_slice() {
            [] => self.groups.get(..1).unwrap_or_default(),
            groups => groups,
        }
    }

    /// Whether connections of TLS 1.3 send an encrypted_client_hello that holds nothing (RFC 9849 §6.2).
    pub fn greases_ech(&self) -> bool {
        self.shape.ech_grease || self.form_greases_ech()
    }

    pub(crate) fn form_greases_ech(&self) -> bool {
        let is_it = |extension: &HelloExtension| matches!(extension, HelloExtension::EchGrease(_));
        self.form.as_ref().is_some_and(|form| form.extensions.iter().any(is_it))
    }

    /// Whether a connection of TLS 1.3 looks like a resumed one of TLS 1.2 (RFC 9846 §E.4).
    pub(crate) fn is_compatible(&self) -> bool {
        self.form.as_ref().is_none_or(|form| form.is_compatible)
    }

    /// Offers all that is spoken here but for the hybrid group: both versions, every suite and scheme, the groups of elliptic
    /// curves. The server's name is sent, unless it is an address.
    pub fn new(
        server_name: ServerName<'static>,
        certificates: CertificatePolicy,
        key_shares: Arc<dyn KeyShares>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let sni = match &server_name {
            ServerName::DnsName(name) => Some(name.as_ref().to_owned()),
            _ => None,
        };
        Self {
            versions: vec![Version::Tls12, Version::Tls13],
            cipher_suites: SUITES.iter().map(|suite| suite.id).collect(),
            groups: EcdhKeyShare::GROUPS.to_vec(),
            key_share_groups: Vec::new(),
            server_name,
            sni,
            alpn: Vec::new(),
            tls13: Tls13Extensions::default(),
            shape: HelloShape::default(),
            form: None,
            certificates,
            decompressor: None,
            identity: None,
            key_shares,
            entropy,
            key_log: None,
            survey: false,
            signature_schemes: SIGNATURE_SCHEMES.to_vec(),
            strictness: Strictness::default(),
            answers_retry: true,
            records_events: true,
            keeps_messages: false,
        }
    }
}

/// What to do about a server that breaks a rule and can be understood all the same: one whose certificate forbids what its
/// key is used for, say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// Go on, and record the violation as an event: to measure what others would refuse.
    #[default]
    Lenient,
    /// Refuse it.
    Strict,
}

/// What a ClientHello of TLS 1.3 says of PSKs and tickets. By default it is what clients commonly say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls13Extensions {
    /// How a PSK may be used, in order of preference (RFC 9846 §4.3.9); psk_dhe_ke alone by default. A key share is sent in
    /// any case, so that a server that refuses psk_ke can still do a full handshake. Where it is empty, no extension says so:
    /// then no session can be offered, and the server gives no ticket.
    pub psk_modes: Vec<PskMode>,
    /// How many tickets are asked for (RFC 9149); `None`, the default, leaves it to the server.
    pub ticket_request: Option<TicketRequest>,
}

impl Default for Tls13Extensions {
    fn default() -> Self {
        Self { psk_modes: vec![PskMode::PskDheKe], ticket_request: None }
    }
}

/// Undoes the compression of a server's certificates (RFC 8879).
pub trait Decompress: Send + Sync {
    /// The `length` bytes that `compressed` holds. Holds no more than that at any time; `None` where it is broken, or holds fewer or
    /// more.
    fn decompress(&self, algorithm: CertificateCompressionAlgorithm, compressed: &[u8], length: usize) -> Option<Vec<u8>>;
}

/// Randomness that is not a key share.
pub trait Entropy: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error>;

    /// Encrypts a premaster secret to the server's RSA key, given as SubjectPublicKeyInfo (RFC 5246 §7.4.7.1). The padding
    /// of PKCS #1 v1.5 is random, which is why this is the caller's.
    fn encrypt_premaster(&self, public_key: &[u8], premaster: &[u8; 48]) -> Result<Vec<u8>, Error>;

    /// A premaster secret for this RSA key and its encryption: a new one, unless somebody uses one again.
    fn rsa_premaster(&self, public_key: &[u8]) -> Result<RsaPremaster, Error> {
        // RFC 5246 §7.4.7.1: the offered version, then 46 random bytes.
        let mut secret = Zeroizing::new([0; 48]);
        self.fill(&mut secret[..])?;
        secret[..2].copy_from_slice(&[3, 3]);
        let encrypted = self.encrypt_premaster(public_key, &secret)?;
        Ok(RsaPremaster { secret, encrypted })
    }
}

/// A premaster secret of the RSA key exchange.
#[derive(Clone)]
pub struct RsaPremaster {
    /// The secret.
    pub secret: Zeroizing<[u8; 48]>,
    /// As it stands in the ClientKeyExchange.
    pub encrypted: Vec<u8>,
}
