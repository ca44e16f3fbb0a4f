//! JSSE, Java's own TLS, in a program of the lab's own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use reprise_lab::{Identity, Versions};

use super::driver::{Driven, Driver, ReadySign};
use super::program::run;
use super::scratch::ScratchDir;
use super::{Account, account_line, find};
use crate::Result;

/// A running Java that answers every request with 200.
///
/// JSSE does not tell whether a session was resumed. The program keeps the server's key, and counts a connection as
/// resumed if JSSE did not ask for that key.
pub type Java = Driven<JavaConfig>;

/// What Java is told; [`JavaConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct JavaConfig {
    /// The certificate chain and key.
    pub identity: Identity,
    /// The enabled protocols.
    pub versions: Versions,
    /// `jdk.tls.server.enableSessionTicketExtension`: whether tickets hold the session.
    pub session_tickets: bool,
    /// Without it, each session is invalidated as soon as its handshake has ended: JSSE has no switch for its cache.
    /// Sessions in tickets are beyond its reach.
    pub session_cache: bool,
    /// Further system properties, as `-Djavax.net.ssl.sessionCacheSize=4`.
    pub properties: Vec<String>,
    /// The program that runs it. One that is not called `java` need only be a runtime: `javac` compiles the server for it.
    pub runtime: &'static str,
    /// `setTcpNoDelay(true)` on each socket, which JSSE does not set by itself.
    pub no_delay: bool,
}

impl JavaConfig {
    /// Both versions, with JSSE's defaults: tickets and cache.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            versions: Versions::Both,
            session_tickets: true,
            session_cache: true,
            properties: Vec::new(),
            runtime: PROGRAM,
            no_delay: true,
        }
    }
}

impl JavaConfig {
    fn is_compiled(&self) -> bool {
        self.runtime != PROGRAM
    }
}

impl Driver for JavaConfig {
    type Account = Account;

    const PROGRAM: &'static str = PROGRAM;

    const READY: ReadySign = ReadySign::Says("listening");

    fn path(&self) -> PathBuf {
        find(self.runtime).unwrap_or_else(|| self.runtime.into())
    }

    fn prepare(&self, directory: &ScratchDir) -> Result<()> {
        let source = directory.write(SOURCE, include_str!("../programs/Server.java"))?;
        if self.is_compiled() {
            // It puts the classes beside the source.
            run("javac", |command| {
                command.arg(source);
            })?;
        }
        Ok(())
    }

    fn configure(&self, directory: &ScratchDir, address: SocketAddr, command: &mut Command) -> Result<()> {
        let tickets = format!("-Djdk.tls.server.enableSessionTicketExtension={}", self.session_tickets);
        // The last of one property counts.
        command.args(QUICK_TO_START).arg(&tickets).args(&self.properties);
        match self.is_compiled() {
            true => command.arg("-cp").arg(directory.root()).arg("Server"),
            false => command.arg(directory.path(SOURCE)),
        };
        command.arg(address.port().to_string()).args(directory.write_identity("server", &self.identity)?);
        command.args(self.versions.names());
        command.args((!self.session_cache).then_some("forget-sessions"));
        command.args((!self.no_delay).then_some("delay"));
        Ok(())
    }

    fn accounts(directory: &ScratchDir) -> Result<Vec<Account>> {
        account_line::accounts(directory)
    }
}

const PROGRAM: &str = "java";
const SOURCE: &str = "Server.java";

/// A test ends before code that is compiled with more care would pay off.
const QUICK_TO_START: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
