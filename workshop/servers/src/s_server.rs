//! `openssl s_server`, which serves one connection at a time.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::{Arc, Mutex};

use reprise_lab::{Identity, Listener, Versions};

use super::driver::{Driven, Driver, ReadySign};
use super::scratch::ScratchDir;
use super::{Account, ClientVerify, RealServer, RunningServer};
use crate::{Result, lock, relay};

/// A running `openssl s_server -www`, which answers every request with a page on the connection.
///
/// s_server does not tell the ports of its clients. A relay before it does: it lets one client in after another, and
/// reads from the server's trace of messages (`-msgfile`) what was sent meanwhile. Whoever measures time should
/// measure another server.
#[derive(Debug)]
pub struct SServer {
    // Fields drop in this order: no client is let in once the process ends.
    relay: Listener,
    accounts: Arc<Mutex<Vec<Account>>>,
    server: Driven<SServerConfig>,
}

/// What s_server is told; [`SServerConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct SServerConfig {
    /// One identity, or two of different kinds (`-cert` and `-dcert`), or none with an external PSK alone.
    pub identities: Vec<Identity>,
    /// `-tls1_2`, `-tls1_3` or neither.
    pub versions: Versions,
    /// Whether tickets hold the session; if not, `-no_ticket`: TLS 1.2 resumes by session ID, TLS 1.3 from tickets
    /// that only name a session.
    pub tickets: bool,
    /// Whether sessions are stored; if not, `-no_cache`.
    pub cache: bool,
    /// `-num_tickets`: how many TLS 1.3 tickets are sent after a full handshake.
    pub num_tickets: Option<u32>,
    /// `-cipher`: the TLS 1.2 suites.
    pub ciphers: Option<String>,
    /// `-ciphersuites`: the TLS 1.3 suites.
    pub ciphersuites: Option<String>,
    /// `-groups`.
    pub groups: Option<String>,
    /// `-verify` or `-Verify`, with `-CAfile`.
    pub client_verify: ClientVerify,
    /// `-psk_identity` and `-psk`, the key in hexadecimal.
    pub psk: Option<(String, String)>,
    /// `-early_data` with `-max_early_data` of so many bytes.
    pub max_early_data: Option<u32>,
    /// Further arguments.
    pub extra: Vec<String>,
}

impl SServerConfig {
    /// A server that speaks both versions, with OpenSSL's defaults: tickets and cache.
    #[must_use]
    pub fn new(identities: Vec<Identity>) -> Self {
        Self {
            identities,
            versions: Versions::Both,
            tickets: true,
            cache: true,
            num_tickets: None,
            ciphers: None,
            ciphersuites: None,
            groups: None,
            client_verify: ClientVerify::Off,
            psk: None,
            max_early_data: None,
            extra: Vec::new(),
        }
    }
}

impl SServer {
    /// Starts s_server; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`LabError::Spawn`](reprise_lab::LabError::Spawn) if openssl is not installed, [`DriverError::Died`] with the end of its output if it refuses
    /// its arguments, [`LabError::File`](reprise_lab::LabError::File) if its directory cannot be written.
    pub fn start(config: SServerConfig) -> Result<Self> {
        let server = Driven::start(config)?;
        let (upstream, messages) = (server.server().address, server.directory.path(MESSAGES));
        let accounts = Arc::new(Mutex::new(Vec::new()));
        let book = Arc::clone(&accounts);
        let relay = Listener::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), 1, move |guest| {
            let before = fs::read_to_string(&messages).map_or(0, |trace| trace.len());
            relay::forward(guest, upstream);
            let trace = fs::read_to_string(&messages).unwrap_or_default();
            let ours = trace.get(before..).unwrap_or_default();
            lock(&book).extend(account_of_trace(guest.peer.port(), ours));
        })?;
        Ok(Self { relay, accounts, server })
    }
}

impl RealServer for SServer {
    fn running(&self) -> RunningServer {
        RunningServer { address: self.relay.address(), ..self.server.server() }
    }

    /// A connection is accounted for when both sides have closed it. It counts as resumed if the server sent no
    /// certificate, which an external PSK brings about too.
    fn accounts(&mut self) -> Result<Vec<Account>> {
        Ok(lock(&self.accounts).clone())
    }
}

impl Driver for SServerConfig {
    /// Nothing by itself: its relay does.
    type Account = ();

    const PROGRAM: &'static str = PROGRAM;

    const READY: ReadySign = ReadySign::Says("ACCEPT");

    fn configure(&self, directory: &ScratchDir, address: SocketAddr, command: &mut Command) -> Result<()> {
        command.args(["s_server", "-accept", &address.to_string(), "-www", "-msg", "-msgfile"]);
        command.arg(directory.path(MESSAGES));
        add_options(self, directory, command)
    }

    fn accounts(_: &ScratchDir) -> Result<Vec<()>> {
        Ok(Vec::new())
    }
}

const PROGRAM: &str = "openssl";
const MESSAGES: &str = "messages.txt";

/// None unless the client's Finished arrived.
///
/// The trace has a line for each message, `<<<` from the client and `>>>` from the server:
/// `<<< TLS 1.3, Handshake [length 0034], Finished`.
fn account_of_trace(client_port: u16, trace: &str) -> Option<Account> {
    let mut certificate_sent = false;
    for line in trace.lines() {
        let Some((direction, message)) = line.split_once(' ') else { continue };
        let Some((version, message)) = message.split_once(", Handshake ") else { continue };
        let Some((_, message)) = message.split_once("], ") else { continue };
        match (direction, message) {
            ("<<<", "ClientHello") => certificate_sent = false,
            (">>>", "Certificate") => certificate_sent = true,
            ("<<<", "Finished") => {
                return Some(account(client_port, !certificate_sent, &version.replacen("TLS ", "TLSv", 1)));
            }
            _ => {}
        }
    }
    None
}

fn account(client_port: u16, resumed: bool, version: &str) -> Account {
    Account::new(client_port, resumed, version.to_owned())
}

fn add_options(config: &SServerConfig, directory: &ScratchDir, command: &mut Command) -> Result<()> {
    let flags = [
        ("-tls1_2", config.versions == Versions::Tls12),
        ("-tls1_3", config.versions == Versions::Tls13),
        ("-nocert", config.identities.is_empty()),
        ("-no_ticket", !config.tickets),
        ("-no_cache", !config.cache),
    ];
    for (flag, on) in flags {
        command.args(on.then_some(flag));
    }
    for (prefix, identity) in ["-", "-d"].iter().zip(&config.identities) {
        let [certificate, key] = directory.write_identity(&format!("server{prefix}"), identity)?;
        command.args([&format!("{prefix}cert"), &certificate, &format!("{prefix}key"), &key]);
        if let Some((_, above)) = identity.chain_pem().split_once(PEM_BORDER) {
            let chain = directory.write(&format!("chain{prefix}.pem"), &format!("-----BEGIN{above}"))?;
            command.arg(format!("{prefix}cert_chain")).arg(chain);
        }
    }
    let values = [
        ("-cipher", config.ciphers.clone()),
        ("-ciphersuites", config.ciphersuites.clone()),
        ("-groups", config.groups.clone()),
        ("-num_tickets", config.num_tickets.map(|count| count.to_string())),
    ];
    for (flag, value) in values.iter().filter_map(|(flag, value)| Some((flag, value.as_ref()?))) {
        command.args([flag, &**value]);
    }
    if let Some(authority) = directory.write_client_authority(&config.client_verify)? {
        let verify = if authority.required { "-Verify" } else { "-verify" };
        command.args([verify, "8", "-verify_return_error", "-CAfile", &authority.file]);
    }
    if let Some((identity, key)) = &config.psk {
        command.args(["-psk_identity", identity, "-psk", key]);
    }
    if let Some(bytes) = config.max_early_data {
        command.args(["-early_data", "-max_early_data", &bytes.to_string()]);
    }
    command.args(&config.extra);
    Ok(())
}

/// Between a chain's leaf and the certificates above it.
const PEM_BORDER: &str = "-----END CERTIFICATE-----\n-----BEGIN";
