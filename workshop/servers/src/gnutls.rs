//! `gnutls-serv`, GnuTLS's own test server.

use std::net::SocketAddr;
use std::process::Command;

use reprise_lab::{Identity, Versions};

use super::Account;
use super::driver::{Driven, Driver, ReadySign};
use super::scratch::ScratchDir;
use crate::Result;

/// A running `gnutls-serv --http`, which answers every request with a page about the connection.
///
/// It listens on every address of the machine: there is no option for one.
pub type GnutlsServ = Driven<GnutlsServConfig>;

/// What gnutls-serv is told; [`GnutlsServConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct GnutlsServConfig {
    /// The certificate chain and key.
    pub identity: Identity,
    /// The versions in `--priority`.
    pub versions: Versions,
    /// Without it, `--noticket`.
    pub session_tickets: bool,
    /// Without it, `--nodb`.
    pub session_database: bool,
    /// `--pskpasswd` with this identity, and its key in hexadecimal.
    pub psk: Option<(String, String)>,
    /// What follows the versions in `--priority`, such as `:-GROUP-ALL:+GROUP-SECP256R1`. With `:+PSK` a session may be
    /// resumed without a fresh key exchange; an external PSK needs `:+ECDHE-PSK`.
    pub priority: String,
    /// Further arguments.
    pub extra: Vec<String>,
}

impl GnutlsServConfig {
    /// Both versions, with gnutls-serv's defaults: tickets and database.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            versions: Versions::Both,
            session_tickets: true,
            session_database: true,
            psk: None,
            priority: String::new(),
            extra: Vec::new(),
        }
    }
}

impl Driver for GnutlsServConfig {
    type Account = Account;

    const PROGRAM: &'static str = "gnutls-serv";

    const READY: ReadySign = ReadySign::Says("...done");

    fn configure(&self, directory: &ScratchDir, address: SocketAddr, command: &mut Command) -> Result<()> {
        let versions = match self.versions {
            Versions::Tls12 => "+VERS-TLS1.2",
            Versions::Tls13 => "+VERS-TLS1.3",
            Versions::Both => "+VERS-TLS1.2:+VERS-TLS1.3",
        };
        let [certificate, key] = directory.write_identity("server", &self.identity)?;
        command.args(["--http", "--disable-client-cert", "--port", &address.port().to_string()]);
        command.args(["--x509certfile", &certificate, "--x509keyfile", &key]);
        command.args(["--priority", &format!("NORMAL:-VERS-ALL:{versions}{}", self.priority)]);
        command.args((!self.session_tickets).then_some("--noticket"));
        command.args((!self.session_database).then_some("--nodb"));
        if let Some((identity, key)) = &self.psk {
            command.arg("--pskpasswd").arg(directory.write("psk.txt", &format!("{identity}:{key}\n"))?);
        }
        command.args(&self.extra);
        Ok(())
    }

    /// gnutls-serv tells of handshakes that have ended, one after another. An external PSK counts as resumed, as with
    /// servers on OpenSSL.
    fn accounts(directory: &ScratchDir) -> Result<Vec<Account>> {
        accounts(&directory.output_lines()?).map_err(|line| directory.malformed(line))
    }
}

/// A connection begins with the client's port and has ended its handshake where `- Version` and `- Cipher` stand:
///
/// ```text
/// * Accepted connection from IPv4 127.0.0.1 port 34868 on Sat Nov 21 01:42:34 202
/// *** This is a resumed session
///  - Using curve: X25519
/// - Version: TLS1.3
/// - Cipher: AES-256-GCM
/// ```
///
/// Fails with a line that cannot be understood.
fn accounts(lines: &[String]) -> std::result::Result<Vec<Account>, &str> {
    let mut accounts = Vec::new();
    let mut open: Option<Account> = None;
    for line in lines {
        if line.starts_with("* Accepted connection from ") {
            open = Some(accepted(line).ok_or(&**line)?);
        }
        let Some(account) = &mut open else { continue };
        if line == "*** This is a resumed session" || line.starts_with("- PSK authentication. Connected as ") {
            account.resumed = true;
        } else if let Some(curve) = line.strip_prefix(" - Using curve: ") {
            account.group = Some(curve.to_owned());
        } else if let Some(number) = line.strip_prefix("- Version: TLS") {
            account.version = format!("TLSv{number}");
        } else if let Some(cipher) = line.strip_prefix("- Cipher: ") {
            account.cipher = Some(cipher.to_owned());
            accounts.extend(open.take());
        }
    }
    Ok(accounts)
}

fn accepted(line: &str) -> Option<Account> {
    let (_, after) = line.split_once(" port ")?;
    let (port, _) = after.split_once(' ')?;
    Some(Account::new(port.parse().ok()?, false, String::new()))
}
