//! Prosody, an XMPP server on OpenSSL, in a directory of its own.

use std::collections::HashMap;

use reprise_lab::Identity;

use super::StarttlsAccount;
use crate::Result;
use crate::driver::{Driven, Driver, ReadySign};
use crate::scratch::ScratchDir;

/// A running Prosody that serves the host `127.0.0.1`, where nobody can log in. It does not say which connections were
/// resumed.
pub type Prosody = Driven<ProsodyConfig>;

/// What Prosody is told; [`ProsodyConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct ProsodyConfig {
    /// The certificate chain and key.
    pub identity: Identity,
    /// `no_ticket = false` among the options of `ssl`.
    pub session_tickets: bool,
    /// Whether mod_tls, which offers STARTTLS, is loaded.
    pub offers_tls: bool,
    /// Without it, `nagle = false` among the `network_settings`.
    pub nagle: bool,
}

impl ProsodyConfig {
    /// Prosody's defaults: STARTTLS, Nagle's algorithm, and no tickets.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self { identity, session_tickets: false, offers_tls: true, nagle: true }
    }
}

impl Driver for ProsodyConfig {
    type Account = StarttlsAccount;

    const PROGRAM: &'static str = "prosody";

    /// If another has taken the port meanwhile, it is active on no ports, and goes on.
    const READY: ReadySign = ReadySign::Says(LISTENS);

    const FILE: &'static str = "prosody.cfg.lua";

    const ARGUMENTS: &'static [&'static str] = &["-F", "--config", "{file}"];

    const AS_NOBODY: bool = true;

    fn configuration(&self, directory: &ScratchDir) -> Result<String> {
        let tls = if self.offers_tls { "tls" } else { "saslauth" };
        let options = if self.session_tickets { "options = { no_ticket = false }, " } else { "" };
        let network = if self.nagle { "" } else { "network_settings = { nagle = false }" };
        let [certificate, key] = directory.write_identity("server", &self.identity)?;
        Ok(format!(
            r#"pidfile = "{{root}}/prosody.pid"
data_path = "{{root}}"
certificates = "{{root}}"
interfaces = {{ "{{ip}}" }}
c2s_ports = {{ {{port}} }}
{network}
modules_enabled = {{ "saslauth", "{tls}" }}
modules_disabled = {{ "offline", "s2s" }}
storage = "memory"
log = {{ {{ levels = {{ min = "debug" }}, to = "stdout" }} }}
VirtualHost "127.0.0.1"
    ssl = {{ {options}key = "{key}", certificate = "{certificate}" }}
"#
        ))
    }

    fn accounts(directory: &ScratchDir) -> Result<Vec<StarttlsAccount>> {
        let lines = directory.output_lines()?;
        let accepted = lines.iter().filter(|line| line.contains(ACCEPTED));
        let ports: HashMap<String, u16> = directory.read(accepted, port)?.into_iter().collect();
        directory.read(lines.iter().filter(|line| line.contains(ESTABLISHED)), |line| connected(line, &ports))
    }
}

const LISTENS: &str = "Activated service 'c2s' on [";
const ACCEPTED: &str = "\tConnected (FD ";
const ESTABLISHED: &str = "\tTLS handshake complete (";

/// `connfJ5nQkYhH2py    debug Connected (FD 6 (127.0.0.1, 51122, 127.0.0.1, 24924))`: the client's port comes first.
fn port(line: &str) -> Option<(String, u16)> {
    let port = line.split_once(ACCEPTED)?.1.split(", ").nth(1)?.parse().ok()?;
    Some((name(line)?, port))
}

/// `connfJ5nQkYhH2py    debug TLS handshake complete (TLSv1.3 with TLS_AES_128_GCM_SHA256)`
fn connected(line: &str, ports: &HashMap<String, u16>) -> Option<StarttlsAccount> {
    let version = line.split_once(ESTABLISHED)?.1.split_once(" with ")?.0.to_owned();
    Some(StarttlsAccount { client_port: *ports.get(&name(line)?)?, version })
}

/// Prosody gives each connection a random name.
fn name(line: &str) -> Option<String> {
    line.split(' ').next().map(str::to_owned)
}
