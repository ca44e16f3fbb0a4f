//! OpenLDAP's slapd, in a directory of its own. Debian builds it on GnuTLS.

use std::collections::HashMap;

use reprise_lab::Identity;

use super::StarttlsAccount;
use crate::Result;
use crate::driver::{Driven, Driver, ReadySign};
use crate::scratch::ScratchDir;

/// A running slapd without a directory, which answers questions about its root alone. It does not say which connections were
/// resumed.
pub type Slapd = Driven<SlapdConfig>;

/// What slapd is told.
#[derive(Debug)]
pub struct SlapdConfig {
    /// The certificate chain and key; without them it knows no TLS.
    pub identity: Option<Identity>,
}

impl Driver for SlapdConfig {
    type Account = StarttlsAccount;

    const PROGRAM: &'static str = "slapd";

    const READY: ReadySign = ReadySign::Says("slapd starting");

    /// With -d it stays in the foreground and writes this part of its log to standard error.
    const ARGUMENTS: &'static [&'static str] = &["-d", "stats", "-h", "ldap://{address}/", "-f", "{file}"];

    const AS_NOBODY: bool = true;

    fn configuration(&self, directory: &ScratchDir) -> Result<String> {
        let mut text = "pidfile {root}/slapd.pid\n".to_owned();
        if let Some(identity) = &self.identity {
            let [certificate, key] = directory.write_identity("server", identity)?;
            text.push_str(&format!("TLSCertificateFile {certificate}\nTLSCertificateKeyFile {key}\n"));
        }
        Ok(text)
    }

    fn accounts(directory: &ScratchDir) -> Result<Vec<StarttlsAccount>> {
        let lines = directory.output_lines()?;
        let accepted = lines.iter().filter(|line| line.contains(ACCEPT));
        let ports: HashMap<u64, u16> = directory.read(accepted, port)?.into_iter().collect();
        directory.read(lines.iter().filter(|line| line.contains(ESTABLISHED)), |line| connected(line, &ports))
    }
}

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
