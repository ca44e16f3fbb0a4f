//! Node's `tls` module, in a program of the lab's own.

use std::net::SocketAddr;
use std::process::Command;

use reprise_lab::{Identity, Versions};

use super::driver::{Driven, Driver, ReadySign};
use super::scratch::ScratchDir;
use super::{Account, account_line};
use crate::Result;

/// A running Node that answers every request with 200. Its account is `tls.TLSSocket.isSessionReused()`.
pub type NodeJs = Driven<NodeConfig>;

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
    /// Statements about the `server`, beside which there is a Map called `store`; `server.refuses = (socket) => …` says who gets a 403.
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

impl Driver for NodeConfig {
    type Account = Account;

    const PROGRAM: &'static str = "node";

    const READY: ReadySign = ReadySign::Says("listening");

    fn configure(&self, directory: &ScratchDir, address: SocketAddr, command: &mut Command) -> Result<()> {
        command.arg(directory.write("server.js", include_str!("../programs/server.js"))?).arg(address.port().to_string());
        command.args(directory.write_identity("server", &self.identity)?).args(self.versions.names());
        command.args((!self.session_tickets).then_some("no-tickets"));
        command.args(self.session_store.then_some("store-sessions"));
        command.args(self.allow_no_dhe_kex.then_some("allow-no-dhe-kex"));
        command.args(self.psk.as_ref().map(|(identity, key)| format!("psk={identity}:{key}")));
        command.args((!self.options.is_empty()).then(|| format!("options={}", self.options)));
        command.args((!self.statements.is_empty()).then(|| format!("statements={}", self.statements)));
        command.args(self.bare_sockets.then_some("bare-sockets"));
        Ok(())
    }

    fn accounts(directory: &ScratchDir) -> Result<Vec<Account>> {
        account_line::accounts(directory)
    }
}
