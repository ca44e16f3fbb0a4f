//! OpenLDAP's slapd, in a directory of its own. Debian builds it on GnuTLS.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;

use reprise_lab::Identity;

use super::{PartialWitness, StarttlsAccount};
use crate::Result;
use crate::RunningServer;
use crate::site::{Ready, ScratchDir, Site};
use crate::unprivileged::{hand_over, run_as_nobody};

/// A running slapd without a directory, which answers questions about its root alone. It does not say which connections were
/// resumed.
#[derive(Debug)]
pub struct Slapd {
    site: Site,
}

impl Slapd {
    /// Starts slapd; it accepts connections when this returns. Without an identity it knows no TLS.
    ///
    /// # Errors
    /// [`ServerError::Spawn`](crate::ServerError::Spawn) if it is not installed, [`ServerError::Died`](crate::ServerError::Died) with
    /// the end of its log if it refuses the configuration, [`ServerError::File`](crate::ServerError::File) if its directory
    /// cannot be written.
    pub fn start(identity: Option<&Identity>) -> Result<Self> {
        let ground = ScratchDir::new(PROGRAM)?;
        hand_over(ground.root())?;
        let mut configuration = format!("pidfile {}\n", ground.root().join("slapd.pid").display());
        if let Some(identity) = identity {
            let files = identity.write_pem(ground.root(), "server")?;
            hand_over(&files.key)?;
            configuration.push_str(&tls_directives(&files.certificate, &files.key));
        }
        let configuration = ground.write("slapd.conf", &configuration)?;
        let site = ground.start(Ready::Says("slapd starting"), |_, address, command| {
            run_as_nobody(command);
            // With -d it stays in the foreground and writes this part of its log to standard error.
            command.args(["-d", "stats", "-h", &url(address), "-f"]).arg(&configuration);
            Ok(())
        })?;
        Ok(Self { site })
    }
}

impl PartialWitness for Slapd {
    fn running(&self) -> RunningServer {
        self.site.running()
    }

    fn connected(&self) -> Result<Vec<StarttlsAccount>> {
        let lines = self.site.output()?;
        let accepted = lines.iter().filter(|line| line.contains(ACCEPT));
        let ports: HashMap<u64, u16> = self.site.read(accepted, port)?.into_iter().collect();
        self.site.read(lines.iter().filter(|line| line.contains(ESTABLISHED)), |line| connected(line, &ports))
    }
}

const PROGRAM: &str = "slapd";
const ACCEPT: &str = " ACCEPT from IP=";
const ESTABLISHED: &str = " TLS established ";

/// `… conn=1000 fd=7 ACCEPT from IP=127.0.0.1:54270 (IP=127.0.0.1:24922)`
fn port(line: &str) -> Option<(u64, u16)> {
    let (_, client) = line.split_once(ACCEPT)?;
    Some((number(line)?, client.split(' ').next()?.rsplit_once(':')?.1.parse().ok()?))
}

/// `… conn=1000 fd=7 TLS established tls_ssf=256 ssf=256 tls_proto=TLS1.2 tls_cipher=AES-256-GCM`: GnuTLS names versions so,
/// OpenSSL has a `v` in them.
fn connected(line: &str, ports: &HashMap<u64, u16>) -> Option<StarttlsAccount> {
    let version = line.split_once(" tls_proto=TLS")?.1.split(' ').next()?.trim_start_matches('v');
    Some(StarttlsAccount { client_port: *ports.get(&number(line)?)?, version: format!("TLSv{version}") })
}

/// slapd counts its connections, and never gives a number again.
fn number(line: &str) -> Option<u64> {
    line.split_once(" conn=")?.1.split(' ').next()?.parse().ok()
}

fn tls_directives(certificate: &Path, key: &Path) -> String {
    format!("TLSCertificateFile {}\nTLSCertificateKeyFile {}\n", certificate.display(), key.display())
}

fn url(address: SocketAddr) -> String {
    format!("ldap://{address}/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_tell_of_one_connection() {
        let accept = "6b01.10 0x7f conn=1001 fd=7 ACCEPT from IP=127.0.0.1:54272 (IP=127.0.0.1:24922)";
        let ports = HashMap::from([port(accept).unwrap()]);
        for version in ["1.3", "v1.3"] {
            let line = format!("6b01.11 0x7f conn=1001 fd=7 TLS established tls_ssf=256 ssf=256 tls_proto=TLS{version} a=b");
            let told = connected(&line, &ports).unwrap();
            assert_eq!(told, StarttlsAccount { client_port: 54272, version: "TLSv1.3".to_owned() });
        }
        for wrong in ["", "x conn=1002 fd=7 TLS established tls_proto=TLS1.3 a", "x conn=1001 fd=7 TLS established "] {
            assert!(connected(wrong, &ports).is_none(), "{wrong}");
        }
    }
}
