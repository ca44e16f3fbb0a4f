//! A server that resumes in every way that rustls knows, and keeps what each client offered it.

mod book;
mod connection;
mod conversation;
mod data_channel;
mod hello;
mod process;
mod session_link;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reprise_connection::StartTls;
use reprise_model::Watched;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::Result;
use crate::listener::Listener;
use book::Book;
use connection::Serving;

/// What a [`WatchedServer`] shows its clients.
#[derive(Debug)]
pub struct WatchedConfig {
    /// The certificate chain, leaf first.
    pub chain: Vec<CertificateDer<'static>>,
    /// The leaf's private key.
    pub key: PrivateKeyDer<'static>,
    /// Where to listen; port 0 for a free one.
    pub listen: SocketAddr,
    /// The protocol in which clients ask for TLS, and which they speak under it; HTTPS if none.
    pub starttls: Option<StartTls>,
    /// How long a handshake may take.
    pub handshake_timeout: Duration,
    /// How long a kept connection may be silent.
    pub idle_timeout: Duration,
}

impl WatchedConfig {
    /// A server on `listen` with the usual timeouts.
    #[must_use]
    pub fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>, listen: SocketAddr) -> Self {
        let (handshake_timeout, idle_timeout) = (Duration::from_secs(10), Duration::from_secs(60));
        Self { chain, key, listen, starttls: None, handshake_timeout, idle_timeout }
    }
}

/// So many connections are served at a time; further ones wait.
const MAX_CONNECTIONS: usize = 512;

/// TLS 1.3 early data that is accepted on one connection, bytes.
const MAX_EARLY_DATA: u32 = 16_384;

/// As many tickets of TLS 1.3 as OpenSSL's servers send after a full handshake.
const TICKETS: usize = 2;
/// As many as they send after one that resumes.
const TICKETS_RESUMED: usize = 1;

/// An HTTPS/1.1 server that a client can resume with in every way, and that keeps what it saw. Dropping it ends its
/// connections and threads.
///
/// Under TLS 1.2 a client gets a ticket if it asks for one and a session ID otherwise, and no other where it resumes. Under TLS 1.3 it
/// gets two tickets, and one where it resumes, each of which is accepted once and allows early data: the server that is hardest to
/// please and still right (RFC 9846, section 8.1). It answers requests as [`EmbeddedServer`](crate::EmbeddedServer) does.
#[derive(Debug)]
pub struct WatchedServer {
    listener: Listener,
    book: Arc<Book>,
}

impl WatchedServer {
    /// Starts a server as configured; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`LabError::Configure`](crate::LabError::Configure) if the certificate and key do not fit,
    /// [`LabError::Listen`](crate::LabError::Listen) if the address is not to be had.
    pub fn start(config: WatchedConfig) -> Result<Self> {
        let tls = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(config.chain, config.key)?;
        let book = Arc::new(Book::new());
        let serving = Serving {
            tls,
            ticketer: aws_lc_rs::Ticketer::new()?,
            book: Arc::clone(&book),
            starttls: config.starttls,
            handshake_timeout: config.handshake_timeout,
            idle_timeout: config.idle_timeout,
        };
        let listener = Listener::start(config.listen, MAX_CONNECTIONS, move |guest| serving.serve(guest))?;
        Ok(Self { listener, book })
    }

    /// Where the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// What it saw so far: the first 4,096 connections, and how many more there were.
    #[must_use]
    pub fn watched(&self) -> Watched {
        self.book.watched()
    }

    /// How many connections are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.book.open()
    }
}
