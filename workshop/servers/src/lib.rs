//! Drivers that start real servers, and servers and relays that misbehave: for tests and benchmarks alone.
//!
//! - A driver starts one kind of server (nginx, `openssl s_server`) on a free loopback port: one server, one file. It
//!   writes a configuration into a directory of its own, starts the program, reads its account of each connection, and
//!   leaves nothing behind when dropped. [`RealServer`] is what they have in common.
//! - [`MisbehavingServer`], [`start_played`], [`Relay`], [`start_inspector`] and [`start_with_wrong_secrets`] misbehave at a chosen
//!   point, or in any way that a test's own code thinks of. [`start_balancer`] stands before many servers.
//!
//! A test of a program that is not installed says so and passes:
//!
//! ```
//! use reprise_lab::{Authority, KeyKind, ServerSpec};
//! use reprise_servers::{Nginx, NginxConfig, RealServer};
//!
//! # fn main() { test() }
//! fn test() {
//!     reprise_servers::require!("nginx");
//!     let authority = Authority::new().unwrap();
//!     let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
//!     let mut server = Nginx::start(NginxConfig::new(vec![identity])).unwrap();
//!     assert!(server.accounts().unwrap().is_empty());
//! }
//! ```

mod account_line;
mod apache;
mod balancer;
mod driver;
mod error;
mod gnutls;
mod go;
mod hang_up;
mod haproxy;
mod inspector;
mod java;
mod misbehaving;
mod nginx;
mod node;
mod own_network;
mod played;
mod presence;
mod process;
mod program;
mod real_server;
mod relay;
mod rustls;
mod s_server;
mod scratch;
mod starttls;
mod stunnel;
mod unprivileged;
mod wrong_secret;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use apache::{Apache, ApacheConfig};
pub use balancer::{Balancing, start_balancer};
pub use driver::Driven;
pub use error::DriverError;
pub use gnutls::{GnutlsServ, GnutlsServConfig};
pub use go::{Go, GoConfig, GoProgram};
pub use hang_up::ConnectionEnd;
pub use haproxy::{HaProxy, HaProxyConfig};
pub use inspector::{MiddleboxRefusal, start_inspector, start_router};
pub use java::{Java, JavaConfig};
pub use misbehaving::{MisbehavingServer, ScriptStep};
pub use nginx::{Nginx, NginxConfig, SessionCache};
pub use node::{NodeConfig, NodeJs};
pub use own_network::own_network;
pub use played::{Act, Actor, start_played};
pub use presence::{NotRun, find, missing};
pub use process::{Launch, Process};
pub use real_server::{Account, ClientVerify, RealServer, RunningServer};
pub use relay::{Relay, RelayFault, RelayRule};
pub use s_server::{SServer, SServerConfig};
#[cfg(unix)]
pub use starttls::Vsftpd;
pub use starttls::{
    Dovecot, DovecotConfig, Exim, EximConfig, FTP_USER, FtpSessionCache, LoginProcesses, MailAccess, MariaDb, MariaDbConfig,
    PartialWitness, Postgres, PostgresConfig, ProFtpd, ProFtpdConfig, Prosody, ProsodyConfig, Slapd, SlapdConfig,
    StarttlsAccount,
};
pub use stunnel::{Stunnel, StunnelConfig};
pub use wrong_secret::start_with_wrong_secrets;

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, DriverError>;

/// Locks even if a thread panicked while it held the lock: what these locks guard is whole at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
