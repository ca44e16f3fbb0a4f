//! Node's `tls` module, in a program of the lab's own.

use reprise_lab::{Identity, Versions};

use super::site::{Ready, ScratchDir, Site};
use super::{Account, RealServer, RunningServer, account_line};
use crate::Result;

/// A running Node that answers every request with 200. Its account is `tls.TLSSocket.isSessionReused()`.
#[derive(Debug)]
pub struct NodeJs {
    site: Site,
}

/// What Node is told; [`NodeConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    /// The certificate chain and key.
    pub identity: Identity,
    /// `minVersion` and `maxVersion`.
    pub versions: Versions,
    /// Without it, `SSL_OP_NO_TICKET` is among the `secureOptions`.
    pub session_tickets: bool,
    /// Whether the application keeps sessions, by the events `newSession` and `resumeSession`.
    pub session_store: bool,
    /// `SSL_OP_ALLOW_NO_DHE_KEX` among the `secureOptions`: a session may be resumed without a fresh key exchange.
    pub allow_no_dhe_kex: bool,
    /// `pskCallback` knows this identity, and its key in hexadecimal.
    pub psk: Option<(String, String)>,
    /// Further options of `tls.createServer`, as they are written in JavaScript: `requestCert: true`.
    pub options: String,
    /// Statements about the `server`, beside which there is a Map called `store`.
    pub statements: String,
    /// Each connection is a `tls.TLSSocket` with a context of `tls.createSecureContext`, without what `tls.createServer` adds.
    pub bare_sockets: bool,
}

impl NodeConfig {
    /// Both versions, with Node's defaults: tickets on, no store.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            versions: Versions::Both,
            session_tickets: true,
            session_store: false,
            allow_no_dhe_kex: false,
            psk: None,
            options: String::new(),
            statements: String::new(),
            bare_sockets: false,
        }
    }
}

impl NodeJs {
    /// Starts Node; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`ServerError::Spawn`](crate::ServerError::Spawn) if it is not installed, [`ServerError::Died`](crate::ServerError::Died)
    /// with the end of its output if it refuses its options, [`ServerError::File`](crate::ServerError::File) if its
    /// directory cannot be written.
    pub fn start(config: NodeConfig) -> Result<Self> {
        let ground = ScratchDir::new(PROGRAM)?;
        let script = ground.write("server.js", include_str!("../programs/server.js"))?;
        let files = config.identity.write_pem(ground.root(), "server")?;
        let site = ground.start(Ready::Says("listening"), |_, address, command| {
            command.arg(&script).arg(address.port().to_string()).arg(&files.certificate).arg(&files.key);
            command.args(config.versions.names());
            command.args((!config.session_tickets).then_some("no-tickets"));
            command.args(config.session_store.then_some("store-sessions"));
            command.args(config.allow_no_dhe_kex.then_some("allow-no-dhe-kex"));
            command.args(config.psk.as_ref().map(|(identity, key)| format!("psk={identity}:{key}")));
            command.args((!config.options.is_empty()).then(|| format!("options={}", config.options)));
            command.args((!config.statements.is_empty()).then(|| format!("statements={}", config.statements)));
            command.args(config.bare_sockets.then_some("bare-sockets"));
            Ok(())
        })?;
        Ok(Self { site })
    }
}

impl RealServer for NodeJs {
    fn running(&self) -> RunningServer {
        self.site.running()
    }

    fn accounts(&mut self) -> Result<Vec<Account>> {
        account_line::accounts(PROGRAM, &self.site.output()?)
    }
}

const PROGRAM: &str = "node";
