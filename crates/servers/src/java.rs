//! JSSE, Java's own TLS, in a program of the lab's own.

use std::path::Path;
use std::process::Command;

use reprise_lab::{Identity, Versions};

use super::site::{Ready, ScratchDir, Site};
use super::{Account, RealServer, RunningServer, account_line};
use crate::{Result, ServerError};

/// A running Java that answers every request with 200.
///
/// JSSE does not tell whether a session was resumed. The program keeps the server's key, and counts a connection as
/// resumed if JSSE did not ask for that key.
#[derive(Debug)]
pub struct Java {
    site: Site,
}

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

impl Java {
    /// Starts Java; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`ServerError::Spawn`](crate::ServerError::Spawn) if it is not installed, [`ServerError::Died`](crate::ServerError::Died)
    /// with the end of its output if it cannot compile the program, [`ServerError::Program`](crate::ServerError::Program) if
    /// `javac` cannot, [`ServerError::File`](crate::ServerError::File) if its
    /// directory cannot be written.
    pub fn start(config: JavaConfig) -> Result<Self> {
        let ground = ScratchDir::new(config.runtime)?;
        let source = ground.write("Server.java", include_str!("../programs/Server.java"))?;
        let is_compiled = config.runtime != PROGRAM;
        if is_compiled {
            compile(&source)?;
        }
        let files = config.identity.write_pem(ground.root(), "server")?;
        let tickets = format!("-Djdk.tls.server.enableSessionTicketExtension={}", config.session_tickets);
        let site = ground.start(Ready::Says("listening"), |ground, address, command| {
            // The last of one property counts.
            command.args(QUICK_TO_START).arg(&tickets).args(&config.properties);
            match is_compiled {
                true => command.arg("-cp").arg(ground.root()).arg("Server"),
                false => command.arg(&source),
            };
            command.arg(address.port().to_string()).arg(&files.certificate).arg(&files.key);
            command.args(config.versions.names());
            command.args((!config.session_cache).then_some("forget-sessions"));
            command.args((!config.no_delay).then_some("delay"));
            Ok(())
        })?;
        Ok(Self { site })
    }
}

impl RealServer for Java {
    fn running(&self) -> RunningServer {
        self.site.running()
    }

    fn accounts(&mut self) -> Result<Vec<Account>> {
        account_line::accounts(PROGRAM, &self.site.output()?)
    }
}

/// Puts the classes beside the source.
fn compile(source: &Path) -> Result<()> {
    let program = || COMPILER.to_owned();
    let output = Command::new(COMPILER).arg(source).output();
    let output = output.map_err(|source| ServerError::Spawn { program: program(), source })?;
    if output.status.success() {
        return Ok(());
    }
    Err(ServerError::Program { program: program(), output: String::from_utf8_lossy(&output.stderr).into_owned() })
}

const PROGRAM: &str = "java";
const COMPILER: &str = "javac";

/// A test ends before code that is compiled with more care would pay off.
const QUICK_TO_START: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
