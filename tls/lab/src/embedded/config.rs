use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{
    NoServerSessionStorage, ProducesTickets, ServerSessionMemoryCache, StoresServerSessions, WebPkiClientVerifier,
};
use rustls::version::{TLS12, TLS13};
use rustls::{CipherSuite, NamedGroup, RootCertStore, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::CertificateDer;

use crate::{Identity, LabError, Result};

/// What an [`EmbeddedServer`](crate::EmbeddedServer) is and does; [`EmbeddedConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct EmbeddedConfig {
    /// The certificate chain and key.
    pub identity: Identity,
    /// Whether and how sessions are resumed.
    pub resumption: EmbeddedResumption,
    /// The versions spoken.
    pub versions: Versions,
    /// Whether clients are asked for a certificate.
    pub client_auth: ClientAuthRequest,
    /// How many bytes of TLS 1.3 early data are accepted; 0 for none. rustls accepts them with [`EmbeddedResumption::Id`]
    /// alone, since only stored sessions can be used once (RFC 9846, section 8.1).
    pub max_early_data: u32,
    /// How many TLS 1.3 tickets are sent after each handshake, if sessions are resumed at all.
    pub tickets: usize,
    /// How many of them a client gets at most that asks for a number (RFC 9149); 0 answers nobody.
    pub most_tickets: u8,
    /// How long tickets are said to live, in seconds, with [`EmbeddedResumption::Ticket`]; none for what rustls says. RFC 9846 has seven
    /// days at most.
    pub ticket_lifetime: Option<u32>,
    /// How many sessions are stored with [`EmbeddedResumption::Id`].
    pub stored_sessions: usize,
    /// Seals the tickets, in place of what [`EmbeddedResumption::Ticket`] means: a ticketer that several servers share.
    pub ticketer: Option<Arc<dyn ProducesTickets>>,
    /// Stores the sessions, in place of what [`EmbeddedResumption::Id`] means: a store that several servers share.
    pub session_storage: Option<Arc<dyn StoresServerSessions>>,
    /// The application protocols that are agreed to, the preferred first. A client that offers none is served; one
    /// that offers only others is refused (RFC 7301, section 3.2).
    pub alpn: Vec<Vec<u8>>,
    /// The cipher suites, the preferred first; empty for rustls' own choice.
    pub cipher_suites: Vec<CipherSuite>,
    /// The key exchange groups, the preferred first; empty for rustls' own choice.
    pub groups: Vec<NamedGroup>,
    /// What is said under TLS.
    pub application: ServerApplication,
    /// Whether a client may begin another TLS session on the same TCP connection, once it has said close_notify and has read
    /// the server's.
    pub keeps_transport: bool,
    /// Where to listen; port 0 for a free one.
    pub listen: SocketAddr,
    /// How many connections are served at a time; further ones wait.
    pub max_connections: usize,
    /// How long a handshake may take.
    pub handshake_timeout: Duration,
    /// How long a kept connection may be silent.
    pub idle_timeout: Duration,
}

/// What an embedded server says under TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ServerApplication {
    /// HTTP/1.1.
    #[default]
    Http,
    /// HTTP/1.1 behind a server that accepts early data and does not hand it on: a request in it is never answered.
    HttpAfterHandshake,
    /// A dialogue, once; then the connection closes. What is said against it ends it, and stands in
    /// [`EmbeddedServer::misheard`](crate::EmbeddedServer::misheard).
    Dialogue(Vec<Turn>),
}

/// One line of a dialogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// The server says this.
    Says(Vec<u8>),
    /// The server waits for exactly these bytes.
    Hears(Vec<u8>),
}

/// How an embedded server resumes sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EmbeddedResumption {
    /// Not at all: no session ID, no ticket.
    Off,
    /// From sessions stored at the server: by session ID in TLS 1.2, by tickets that only name a session in TLS 1.3.
    Id,
    /// From tickets that hold the session, sealed (RFC 5077; RFC 9846, section 4.7.1).
    Ticket,
    /// As [`EmbeddedResumption::Ticket`], and a resumed connection gets no new one, as with OpenSSL where the ticket callback of the
    /// server does not ask for it.
    TicketOfFull,
    /// Tickets are sent and never accepted, as servers do whose ticket keys are not shared.
    RefusedTicket,
}

/// The versions of TLS that an embedded server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Versions {
    /// TLS 1.2 alone.
    Tls12,
    /// TLS 1.3 alone.
    Tls13,
    /// Both.
    Both,
}

/// Whether an embedded server asks clients for a certificate, and the authority that must have issued it.
#[derive(Debug, Clone)]
pub enum ClientAuthRequest {
    /// It does not ask.
    None,
    /// It asks, and serves clients without one too.
    Optional(CertificateDer<'static>),
    /// It refuses clients without one.
    Required(CertificateDer<'static>),
}

/// How long a client may keep the server waiting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    pub(super) handshake: Duration,
    pub(super) idle: Duration,
}

impl EmbeddedConfig {
    /// A server on a free port of 127.0.0.1 that speaks both versions, resumes nothing and asks for no certificate.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            resumption: EmbeddedResumption::Off,
            versions: Versions::Both,
            client_auth: ClientAuthRequest::None,
            max_early_data: 0,
            tickets: 2,
            most_tickets: 0,
            ticket_lifetime: None,
            stored_sessions: STORED_SESSIONS,
            ticketer: None,
            session_storage: None,
            alpn: vec![b"http/1.1".to_vec()],
            cipher_suites: Vec::new(),
            groups: Vec::new(),
            application: ServerApplication::Http,
            keeps_transport: false,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            max_connections: 64,
            handshake_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
        }
    }

    pub(super) fn timeouts(&self) -> Timeouts {
        Timeouts { handshake: self.handshake_timeout, idle: self.idle_timeout }
    }

    /// What rustls serves by, as an [`EmbeddedServer`](crate::EmbeddedServer) of this configuration does.
    ///
    /// # Errors
    /// If the certificate and key do not fit.
    pub fn to_rustls(&self) -> Result<ServerConfig> {
        let provider = Arc::new(self.provider());
        let verifier = self.client_auth.verifier(&provider)?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(self.versions.supported())?
            .with_client_cert_verifier(verifier)
            .with_single_cert(self.identity.chain().to_vec(), self.identity.key_der())?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = self.tickets;
        match self.resumption {
            EmbeddedResumption::Off => config.send_tls13_tickets = 0,
            EmbeddedResumption::Id => {
                let own = || ServerSessionMemoryCache::new(self.stored_sessions);
                config.session_storage = self.session_storage.clone().unwrap_or_else(|| own());
            }
            EmbeddedResumption::Ticket | EmbeddedResumption::TicketOfFull | EmbeddedResumption::RefusedTicket => {
                config.ticketer = Arc::new(LabTicketer {
                    ticketer: self.ticketer.clone().map_or_else(aws_lc_rs::Ticketer::new, Ok)?,
                    lifetime: self.ticket_lifetime,
                    refuses: self.resumption == EmbeddedResumption::RefusedTicket,
                    withheld: if self.resumption == EmbeddedResumption::TicketOfFull { self.tickets } else { 0 },
                });
            }
        }
        config.max_early_data_size = self.max_early_data;
        config.max_tls13_tickets = self.most_tickets.into();
        config.alpn_protocols.clone_from(&self.alpn);
        Ok(config)
    }

    /// Named outright: the process-wide default provider belongs to whoever embeds the lab.
    fn provider(&self) -> CryptoProvider {
        let mut provider = aws_lc_rs::default_provider();
        if !self.cipher_suites.is_empty() {
            let all = std::mem::take(&mut provider.cipher_suites);
            let named = |name: &CipherSuite| all.iter().find(|suite| suite.suite() == *name).copied();
            provider.cipher_suites = self.cipher_suites.iter().filter_map(named).collect();
        }
        if !self.groups.is_empty() {
            let all = std::mem::take(&mut provider.kx_groups);
            let named = |name: &NamedGroup| all.iter().find(|group| group.name() == *name).copied();
            provider.kx_groups = self.groups.iter().filter_map(named).collect();
        }
        provider
    }
}

/// More sessions than any measurement makes before it resumes one.
const STORED_SESSIONS: usize = 16_384;

impl Versions {
    /// The lowest and the highest, as OpenSSL and most others call them.
    #[must_use]
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Self::Tls12 => ["TLSv1.2"; 2],
            Self::Tls13 => ["TLSv1.3"; 2],
            Self::Both => ["TLSv1.2", "TLSv1.3"],
        }
    }

    fn supported(self) -> &'static [&'static SupportedProtocolVersion] {
        static ALL: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];
        let [tls12, tls13] = &ALL;
        match self {
            Self::Tls12 => std::slice::from_ref(tls12),
            Self::Tls13 => std::slice::from_ref(tls13),
            Self::Both => &ALL,
        }
    }
}

impl ClientAuthRequest {
    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>> {
        let (authority, optional) = match self {
            Self::None => return Ok(WebPkiClientVerifier::no_client_auth()),
            Self::Optional(authority) => (authority, true),
            Self::Required(authority) => (authority, false),
        };
        let mut roots = RootCertStore::empty();
        roots.add(authority.clone()).map_err(LabError::Configure)?;
        let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        Ok(if optional { builder.allow_unauthenticated().build()? } else { builder.build()? })
    }
}

/// Seals and opens tickets as the configuration says.
#[derive(Debug)]
struct LabTicketer {
    ticketer: Arc<dyn ProducesTickets>,
    /// How long tickets are said to live; none for what the ticketer says.
    lifetime: Option<u32>,
    /// Whether it never opens one.
    refuses: bool,
    /// How many tickets it does not seal on a connection for which it has opened one.
    withheld: usize,
}

thread_local! {
    /// How many are still to be withheld. A connection is served by one thread.
    static WITHHELD: Cell<usize> = const { Cell::new(0) };
}

impl ProducesTickets for LabTicketer {
    fn enabled(&self) -> bool {
        self.ticketer.enabled()
    }

    fn lifetime(&self) -> u32 {
        self.lifetime.unwrap_or_else(|| self.ticketer.lifetime())
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        match WITHHELD.get() {
            0 => self.ticketer.encrypt(plain),
            left => {
                WITHHELD.set(left - 1);
                None
            }
        }
    }

    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        let plain = self.ticketer.decrypt(cipher).filter(|_| !self.refuses)?;
        WITHHELD.set(self.withheld);
        Some(plain)
    }
}
