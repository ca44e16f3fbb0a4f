//! Prosody, an XMPP server on OpenSSL, in a directory of its own.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use reprise_lab::Identity;

use super::{PartialWitness, StarttlsAccount};
use crate::Result;
use crate::RunningServer;
use crate::site::{Ready, ScratchDir, Site};
use crate::unprivileged::{hand_over, run_as_nobody};

/// A running Prosody that serves the host `127.0.0.1`, where nobody can log in. It does not say which connections were
/// resumed.
#[derive(Debug)]
pub struct Prosody {
    site: Site,
}

/// What Prosody is told; [`ProsodyConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct ProsodyConfig {
    /// The certificate chain and key.
    pub identity: Identity,
    /// `no_ticket = false` among the options of `ssl`.
    pub session_tickets: bool,
    /// Whether mod_tls, which offers STARTTLS, is loaded.
    pub offers_tls: bool,
}

impl ProsodyConfig {
    /// Prosody's defaults: STARTTLS, and no tickets.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self { identity, session_tickets: false, offers_tls: true }
    }
}

impl Prosody {
    /// Starts Prosody; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`ServerError::Spawn`](crate::ServerError::Spawn) if it is not installed, [`ServerError::Died`](crate::ServerError::Died) with
    /// the end of its log if it refuses the configuration, [`ServerError::File`](crate::ServerError::File) if its directory
    /// cannot be written.
    pub fn start(config: ProsodyConfig) -> Result<Self> {
        let ground = ScratchDir::new(PROGRAM)?;
        hand_over(ground.root())?;
        let files = config.identity.write_pem(ground.root(), "server")?;
        hand_over(&files.key)?;
        // If another has taken the port meanwhile, it is active on no ports, and goes on.
        let site = ground.start(Ready::Says(LISTENS), |ground, address, command| {
            run_as_nobody(command);
            let text = configuration(&config, ground.root(), (&files.certificate, &files.key), address);
            command.arg("-F").arg("--config").arg(ground.write("prosody.cfg.lua", &text)?);
            Ok(())
        })?;
        Ok(Self { site })
    }
}

impl PartialWitness for Prosody {
    fn running(&self) -> RunningServer {
        self.site.running()
    }

    fn connected(&self) -> Result<Vec<StarttlsAccount>> {
        let lines = self.site.output()?;
        let accepted = lines.iter().filter(|line| line.contains(ACCEPTED));
        let ports: HashMap<String, u16> = self.site.read(accepted, port)?.into_iter().collect();
        self.site.read(lines.iter().filter(|line| line.contains(ESTABLISHED)), |line| connected(line, &ports))
    }
}

const PROGRAM: &str = "prosody";
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

fn configuration(config: &ProsodyConfig, root: &Path, (certificate, key): (&Path, &Path), address: SocketAddr) -> String {
    let tls = if config.offers_tls { "tls" } else { "saslauth" };
    let options = if config.session_tickets { "options = { no_ticket = false }, " } else { "" };
    let (certificate, key, root) = (certificate.display(), key.display(), root.display());
    let (ip, port, host) = (address.ip(), address.port(), Ipv4Addr::LOCALHOST);
    format!(
        r#"pidfile = "{root}/prosody.pid"
data_path = "{root}"
certificates = "{root}"
interfaces = {{ "{ip}" }}
c2s_ports = {{ {port} }}
modules_enabled = {{ "saslauth", "{tls}" }}
modules_disabled = {{ "offline", "s2s" }}
storage = "memory"
log = {{ {{ levels = {{ min = "debug" }}, to = "stdout" }} }}
VirtualHost "{host}"
    ssl = {{ {options}key = "{key}", certificate = "{certificate}" }}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_tell_of_one_connection() {
        let ports = HashMap::from([port("connA1    debug\tConnected (FD 6 (127.0.0.1, 51122, 127.0.0.1, 24924))").unwrap()]);
        let told = connected("connA1    debug\tTLS handshake complete (TLSv1.3 with X)", &ports).unwrap();
        assert_eq!(told, StarttlsAccount { client_port: 51122, version: "TLSv1.3".to_owned() });
        for wrong in
            ["", "connA2    debug\tTLS handshake complete (TLSv1.3 with X)", "connA1    debug\tTLS handshake complete"]
        {
            assert!(connected(wrong, &ports).is_none(), "{wrong}");
        }
    }
}
