//! JSSE, Java's own TLS, in a program of the lab's own.

use super::site::{Ground, Ready, Site};
use super::{Account, RealServer, Running, account_line};
use crate::{Identity, Result, Versions};

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
            no_delay: true,
        }
    }
}

impl Java {
    /// Starts Java; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`LabError::Spawn`](crate::LabError::Spawn) if it is not installed, [`LabError::Died`](crate::LabError::Died)
    /// with the end of its output if it cannot compile the program, [`LabError::File`](crate::LabError::File) if its
    /// directory cannot be written.
    pub fn start(config: JavaConfig) -> Result<Self> {
        let ground = Ground::new(PROGRAM)?;
        let source = ground.write("Server.java", include_str!("../../servers/Server.java"))?;
        let files = config.identity.write_pem(ground.root(), "server")?;
        let tickets = format!("-Djdk.tls.server.enableSessionTicketExtension={}", config.session_tickets);
        let site = ground.start(Ready::Says("listening"), |_, address, command| {
            // The last of one property counts.
            command.args(QUICK_TO_START).arg(&tickets).args(&config.properties).arg(&source);
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
    fn running(&self) -> Running {
        self.site.running()
    }

    fn accounts(&mut self) -> Result<Vec<Account>> {
        account_line::accounts(PROGRAM, &self.site.output()?)
    }
}

const PROGRAM: &str = "java";

/// A test ends before code that is compiled with more care would pay off.
const QUICK_TO_START: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
