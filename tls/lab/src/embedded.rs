//! HTTPS/1.1 over rustls, inside this process.

mod account;
mod config;
mod connection;
mod http;

use std::net::SocketAddr;
use std::sync::Arc;

pub use account::{ConnectionAccount, HandshakeFailure};
pub use config::{ClientAuthRequest, EmbeddedConfig, EmbeddedResumption, ServerApplication, Turn, Versions};

pub(crate) use connection::{ClosedBy, Connection, End, Moment};

use rustls::ServerConfig;

use crate::Result;
use crate::listener::Listener;
use account::Ledger;

/// An HTTPS/1.1 server on a loopback port. Dropping it ends its connections and threads.
///
/// | request | answer |
/// | --- | --- |
/// | GET, HEAD, POST of any path but these | 200 and a body of a dozen bytes |
/// | `/status/NNN` | that status, 200 to 599 |
/// | `/bytes/N` | N bytes, at most 16 MiB |
/// | `/chunked` | a chunked body |
/// | another method | 405 |
/// | anything malformed | 400, and the connection closes |
#[derive(Debug)]
pub struct EmbeddedServer {
    listener: Listener,
    ledger: Arc<Ledger>,
}

impl EmbeddedServer {
    /// Starts a server as configured; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`LabError::Configure`](crate::LabError::Configure) or
    /// [`LabError::ClientVerifier`](crate::LabError::ClientVerifier) if rustls refuses the configuration,
    /// [`LabError::Listen`](crate::LabError::Listen) if there is no port to be had.
    pub fn start(config: EmbeddedConfig) -> Result<Self> {
        let tls = config.to_rustls()?;
        Self::start_with(config, Arc::new(tls))
    }

    /// As [`EmbeddedServer::start`], for a configuration of rustls that was made from `config` and then changed.
    ///
    /// # Errors
    /// [`LabError::Listen`](crate::LabError::Listen) if there is no port to be had.
    pub fn start_with(config: EmbeddedConfig, tls: Arc<ServerConfig>) -> Result<Self> {
        let ledger = Arc::new(Ledger::default());
        let shared = Arc::clone(&ledger);
        let (listen, max_connections) = (config.listen, config.max_connections);
        let listener = Listener::start(listen, max_connections, move |guest| {
            connection::serve(guest, &tls, &shared, &config);
        })?;
        Ok(Self { listener, ledger })
    }

    /// Where the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// What the server saw of each completed handshake, in order of completion: the latest 65,536.
    ///
    /// An account is there before the connection's first response is sent, so whoever has read a response finds it.
    #[must_use]
    pub fn accounts(&self) -> Vec<ConnectionAccount> {
        self.ledger.accounts()
    }

    /// The handshakes that did not complete, though at least one byte arrived: the latest 65,536.
    #[must_use]
    pub fn failures(&self) -> Vec<HandshakeFailure> {
        self.ledger.failures()
    }

    /// What was said against the dialogue of [`ServerApplication::Dialogue`]: of the latest 65,536 such connections.
    #[must_use]
    pub fn misheard(&self) -> Vec<String> {
        self.ledger.misheard()
    }

    /// How many handshakes were completed in all.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.ledger.completed()
    }
}
