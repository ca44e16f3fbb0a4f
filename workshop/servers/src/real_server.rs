//! What all drivers have in common.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use crate::{DriverError, Result};

/// A server that runs until it is dropped: a process of its own, or for rustls an [`EmbeddedServer`](reprise_lab::EmbeddedServer).
pub trait RealServer {
    /// Which program it is, and where it runs.
    fn running(&self) -> RunningServer;

    /// The server's own account of each connection so far, in the order in which it wrote them down.
    ///
    /// # Errors
    /// [`LabError::File`](reprise_lab::LabError::File) or [`DriverError::Account`] if the server's log cannot be read or understood.
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
    /// As [`RealServer::accounts`]; [`DriverError::Unaccounted`] if there are still fewer after `deadline`.
    fn accounts_when(&mut self, expected: usize, deadline: Duration) -> Result<Vec<Account>> {
        until_there_are(expected, deadline, self.program(), || self.accounts())
    }
}

/// A program that serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningServer {
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
    pub(crate) fn new(client_port: u16, resumed: bool, version: String) -> Self {
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

pub(crate) fn until_there_are<T>(
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
            return Err(DriverError::Unaccounted { program: program.to_owned(), found: told.len(), expected, deadline });
        }
        thread::sleep(POLL);
    }
}

/// How often a log or a port is looked at anew.
pub(crate) const POLL: Duration = Duration::from_millis(2);

/// How long a server may take to start on a busy machine.
pub(crate) const READY_DEADLINE: Duration = Duration::from_secs(60);
