//! Drivers for real servers in tests: one server, one file.
//!
//! A driver writes a configuration into a directory of its own, starts the program on a free loopback port, reads
//! its account of each connection, and leaves nothing behind when dropped. A test of a program that is not installed
//! says so and passes:
//!
//! ```
//! use reprise_lab::servers::{Nginx, NginxConfig, RealServer};
//!
//! # fn main() { test() }
//! fn test() {
//!     reprise_lab::require!("nginx");
//!     let authority = reprise_lab::Authority::new().unwrap();
//!     let identity = authority.server(&reprise_lab::ServerSpec::new(reprise_lab::KeyKind::P256)).unwrap();
//!     let mut server = Nginx::start(NginxConfig::new(vec![identity])).unwrap();
//!     assert!(server.accounts().unwrap().is_empty());
//! }
//! ```

mod account_line;
mod apache;
mod gnutls;
mod go;
mod haproxy;
mod java;
mod nginx;
mod node;
mod presence;
mod process;
mod rustls;
mod s_server;
mod site;
mod starttls;
mod stunnel;
mod unprivileged;

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

pub use apache::{Apache, ApacheConfig};
pub use gnutls::{GnutlsServ, GnutlsServConfig};
pub use go::{Go, GoConfig, GoProgram};
pub use haproxy::{HaProxy, HaProxyConfig};
pub use java::{Java, JavaConfig};
pub use nginx::{Nginx, NginxConfig, SessionCache};
pub use node::{Node, NodeConfig};
pub use presence::{NotRun, find, missing};
pub use process::{Launch, Process};
pub use s_server::{SServer, SServerConfig};
pub use starttls::{
    Connected, Dovecot, Exim, EximConfig, FtpSessionCache, LoginProcesses, MailAccess, MariaDb, MariaDbConfig,
    PartialWitness, Postgres, ProFtpd, ProFtpdConfig, Prosody, ProsodyConfig, Slapd,
};
pub use stunnel::Stunnel;

use crate::{LabError, Result};

/// A server that runs until it is dropped: a process of its own, or for rustls an [`EmbeddedServer`](crate::EmbeddedServer).
pub trait RealServer {
    /// Which program it is, and where it runs.
    fn running(&self) -> Running;

    /// The server's own account of each connection so far, in the order in which it wrote them down.
    ///
    /// # Errors
    /// [`LabError::File`] or [`LabError::Account`] if the server's log cannot be read or understood.
    fn accounts(&mut self) -> Result<Vec<Account>>;

    /// The program's name.
    fn program(&self) -> &'static str {
        self.running().program
    }

    /// Where clients connect.
    fn address(&self) -> SocketAddr {
        self.running().address
    }

    /// The process that was started; it may have children.
    fn pid(&self) -> u32 {
        self.running().pid
    }

    /// The accounts once there are at least `expected` of them: servers write their log after they have answered.
    ///
    /// # Errors
    /// As [`RealServer::accounts`]; [`LabError::Unaccounted`] if there are still fewer after `deadline`.
    fn accounts_when(&mut self, expected: usize, deadline: Duration) -> Result<Vec<Account>> {
        until_there_are(expected, deadline, self.program(), || self.accounts())
    }
}

/// A program that serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Running {
    /// The program's name.
    pub program: &'static str,
    /// Where clients connect.
    pub address: SocketAddr,
    /// The process that was started; it may have children.
    pub pid: u32,
}

/// What a real server says of one connection. What a server does not tell is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The client's port, which joins this account to the client's.
    pub client_port: u16,
    /// Whether the session was resumed; an external PSK counts as well.
    pub resumed: bool,
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: String,
    /// The cipher suite, by the server's own name for it (OpenSSL's, for most).
    pub cipher: Option<String>,
    /// The group of the key exchange, by the server's own name for it.
    pub group: Option<String>,
    /// What became of the client's certificate, in the server's words (nginx: `NONE`, `SUCCESS`, `FAILED:reason`).
    pub client_verify: Option<String>,
    /// Whether the first request came as early data. nginx does not tell if the handshake has ended meanwhile.
    pub early_data: Option<bool>,
}

impl Account {
    /// What every server tells that tells whether it resumed; some tell more.
    fn new(client_port: u16, resumed: bool, version: String) -> Self {
        Self { client_port, resumed, version, cipher: None, group: None, client_verify: None, early_data: None }
    }
}

/// Whether a real server asks clients for a certificate, and the PEM of the authority that must have issued it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientVerify {
    /// It does not ask.
    Off,
    /// It asks, and serves clients without one too.
    Optional(String),
    /// It refuses clients without one.
    Required(String),
}

fn until_there_are<T>(
    expected: usize,
    deadline: Duration,
    program: &str,
    mut told: impl FnMut() -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let end = Instant::now() + deadline;
    loop {
        let told = told()?;
        if told.len() >= expected {
            return Ok(told);
        }
        if Instant::now() >= end {
            return Err(LabError::Unaccounted { program: program.to_owned(), found: told.len(), expected, deadline });
        }
        thread::sleep(POLL);
    }
}

/// How often a log or a port is looked at anew.
const POLL: Duration = Duration::from_millis(2);

/// How long a server may take to start on a busy machine.
const READY_DEADLINE: Duration = Duration::from_secs(60);
