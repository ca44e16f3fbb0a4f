//! What to measure and how.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reprise_clients::ClientRow;
use reprise_connection::Target;
use reprise_connection::exchange::{Application, ConnectionReuse, DNS_ALPN, Request};
use reprise_connection::prologue::{Proxy, ProxyProtocol, StartTls};
use reprise_engine::{ClientIdentity, EcdhKeyShare, ExternalPsk, KeyLog, Session, Tls13Extensions};
use reprise_model::{Kind, Version};
use reprise_wire::{CipherSuite, NamedGroup};
use rustls_pki_types::CertificateDer;
use zeroize::Zeroizing;

use crate::resolver::AddressFamily;

/// Every choice of a measurement. [`Options::default`] is what `reprise measure TARGET` does.
#[derive(Clone)]
pub struct Options {
    /// The versions to measure; empty for each that the target speaks.
    pub versions: Vec<Version>,
    /// The kinds to measure; empty for `full` and each that the target offers.
    pub kinds: Vec<Kind>,
    /// Number of connections per version and kind.
    pub count: u32,
    /// What happens to a connection after its first request.
    pub connections: ConnectionReuse,
    /// The request; `None` for nothing but the handshake. With `starttls` it is that protocol's own, whatever stands here.
    pub request: Option<Request>,
    /// The proxy that connections go through.
    pub proxy: Option<Proxy>,
    /// The header that each connection begins with, as a proxy would send it.
    pub proxy_protocol: Option<ProxyProtocol>,
    /// The protocol that asks for TLS in the clear.
    pub starttls: Option<StartTls>,
    /// Who logs in to try FTP's data channel; `None` for anonymous.
    pub ftp_login: Option<FtpLogin>,
    /// How long to wait for tickets where nothing else is awaited.
    pub ticket_wait: Duration,
    /// Maximum time per connection, from its first packet to its last.
    pub timeout: Duration,
    /// The name to send.
    pub server_name: ServerName,
    /// The protocols to offer.
    pub alpn: Alpn,
    /// Whom to trust.
    pub certificates: CertificateTrust,
    /// The client's own certificate.
    pub identity: Option<Arc<ClientIdentity>>,
    /// The address to connect to instead of resolving the name.
    pub resolve: Option<IpAddr>,
    /// Which addresses of the name, or of the proxy's, are connected to; `None` for all.
    pub family: Option<AddressFamily>,
    /// The least time between the beginnings of two counted connections of a measurement.
    pub spacing: Duration,
    /// The suites to offer; empty for all that the engine speaks.
    pub cipher_suites: Vec<CipherSuite>,
    /// The groups to offer, with a key share for the first; empty for what `hybrid` says.
    pub groups: Vec<NamedGroup>,
    /// Whether X25519MLKEM768 is offered first, with a share of it and one of x25519, as most clients of today do; else x25519,
    /// secp256r1 and secp384r1 alone.
    pub hybrid: bool,
    /// The client in whose form connections offer: then `cipher_suites` and `groups` are not looked at.
    pub like: Option<&'static ClientRow>,
    /// Whether connections of TLS 1.3 send an encrypted_client_hello that holds nothing (RFC 9849 §6.2).
    pub ech_grease: bool,
    /// The PSK that both sides know already: what the kind `psk` offers under TLS 1.3.
    pub psk: Option<ExternalPsk>,
    /// Sessions to begin with, from another process: the first connection offers the newest of them, and without `versions`
    /// theirs are measured.
    pub sessions: Vec<Session>,
    /// What is said of PSKs and tickets under TLS 1.3.
    pub tls13: Tls13Extensions,
    /// Who is told the secrets.
    pub key_log: Option<Arc<dyn KeyLog>>,
    /// For the order of connections, and for the bootstrap: the same samples and seed give the same intervals.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            versions: Vec::new(),
            kinds: Vec::new(),
            count: 100,
            connections: ConnectionReuse::Close,
            request: Some(Request::default()),
            proxy: None,
            proxy_protocol: None,
            starttls: None,
            ftp_login: None,
            ticket_wait: Duration::from_millis(200),
            timeout: Duration::from_secs(10),
            server_name: ServerName::Host,
            alpn: Alpn::Default,
            certificates: CertificateTrust::Roots(Vec::new()),
            identity: None,
            resolve: None,
            family: None,
            spacing: Duration::ZERO,
            cipher_suites: Vec::new(),
            groups: Vec::new(),
            hybrid: true,
            like: None,
            ech_grease: false,
            psk: None,
            sessions: Vec::new(),
            tls13: Tls13Extensions::default(),
            key_log: None,
            seed: 0,
        }
    }
}

impl Options {
    /// Whether nothing has to be found out: whether an external PSK is taken is what is measured.
    pub(crate) fn measures_psk_alone(&self) -> bool {
        self.kinds == [Kind::Psk]
    }

    /// The groups that are offered, in order of preference.
    pub fn offered_groups(&self) -> Vec<NamedGroup> {
        match self.like {
            Some(row) => row.groups(),
            None if !self.groups.is_empty() => self.groups.clone(),
            None if self.hybrid => [&[NamedGroup::X25519MLKEM768], EcdhKeyShare::GROUPS].concat(),
            None => EcdhKeyShare::GROUPS.to_vec(),
        }
    }

    /// Those of them that get a key share at once; none, for the first alone.
    pub(crate) fn key_share_groups(&self) -> Vec<NamedGroup> {
        match self.hybrid && self.groups.is_empty() {
            true => vec![NamedGroup::X25519MLKEM768, NamedGroup::X25519],
            false => Vec::new(),
        }
    }

    /// The HTTP request, where HTTP is what is spoken under TLS.
    pub fn http_request(&self) -> Option<&Request> {
        self.request.as_ref().filter(|_| self.starttls.is_none() && !self.asks_dns())
    }

    /// Whether a request is a question of DNS over TLS: where ALPN offers that protocol alone.
    pub fn asks_dns(&self) -> bool {
        matches!(&self.alpn, Alpn::Protocols(protocols) if protocols == &[DNS_ALPN])
    }

    /// What every connection to this target says.
    pub(crate) fn application(&self, target: &Target) -> Application {
        match (&self.request, self.starttls) {
            (None, _) => Application::Silent,
            _ if self.asks_dns() => Application::Dns,
            (Some(request), None) => Application::http(target.clone(), request.clone(), Some(self.connections)),
            (Some(_), Some(starttls)) => Application::Question(starttls, target.host.clone()),
        }
    }
}

/// The name in server_name, and the one that the certificate must be for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerName {
    /// The target's host.
    Host,
    /// Another name.
    Name(String),
}

/// The protocols that ALPN offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alpn {
    /// `http/1.1` with an HTTP request, none otherwise.
    Default,
    /// These; none if empty.
    Protocols(Vec<Vec<u8>>),
}

/// Whom to trust.
#[derive(Clone, Debug)]
pub enum CertificateTrust {
    /// These root certificates, DER.
    Roots(Vec<CertificateDer<'static>>),
    /// Anyone.
    Insecure,
}

/// Who logs in to try FTP's data channel.
#[derive(Clone)]
pub struct FtpLogin {
    /// The name.
    pub user: String,
    /// The password.
    pub password: Zeroizing<String>,
}

impl Default for FtpLogin {
    /// Whoever is let in (RFC 1635).
    fn default() -> Self {
        Self { user: "anonymous".to_owned(), password: Zeroizing::new("reprise@".to_owned()) }
    }
}
