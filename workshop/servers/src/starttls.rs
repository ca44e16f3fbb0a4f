//! Services that begin in the clear and are asked for TLS: one server, one file.

mod dovecot;
mod exim;
mod mariadb;
mod postgres;
mod proftpd;
mod prosody;
mod slapd;
#[cfg(unix)]
mod vsftpd;

use std::net::SocketAddr;
use std::time::Duration;

pub use dovecot::{Dovecot, DovecotConfig, LoginProcesses, MailAccess};
pub use exim::{Exim, EximConfig};
pub use mariadb::{MariaDb, MariaDbConfig};
pub use postgres::{Postgres, PostgresConfig};
pub use proftpd::{FTP_USER, FtpSessionCache, ProFtpd, ProFtpdConfig};
pub use prosody::{Prosody, ProsodyConfig};
pub use slapd::{Slapd, SlapdConfig};
#[cfg(unix)]
pub use vsftpd::Vsftpd;

use super::RunningServer;
use super::real_server::until_there_are;
use crate::Result;

/// A server that says who connected, and not whether the session was resumed.
pub trait PartialWitness {
    /// Which program it is, and where it runs.
    fn running(&self) -> RunningServer;

    /// Every connection over TLS so far, in the order in which the server wrote them down.
    ///
    /// # Errors
    /// [`LabError::File`](reprise_lab::LabError::File) or [`DriverError::Account`](crate::DriverError::Account) if the server's log
    /// cannot be read or understood.
    fn connected(&self) -> Result<Vec<StarttlsAccount>>;

    /// Where clients connect.
    fn address(&self) -> SocketAddr {
        self.running().address
    }

    /// The connections once there are at least `expected` of them: servers write their log after they have answered.
    ///
    /// # Errors
    /// As [`PartialWitness::connected`]; [`DriverError::Unaccounted`](crate::DriverError::Unaccounted) if there are still fewer
    /// after `deadline`.
    fn connected_when(&self, expected: usize, deadline: Duration) -> Result<Vec<StarttlsAccount>> {
        until_there_are(expected, deadline, self.running().program, || self.connected())
    }
}

/// What such a server says of one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StarttlsAccount {
    /// The client's port, which joins this account to the client's.
    pub client_port: u16,
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: String,
}
