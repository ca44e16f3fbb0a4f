//! PostgreSQL with a database of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use reprise_lab::Identity;

use super::{PartialWitness, StarttlsAccount};
use crate::site::{Ready, ScratchDir, Site};
use crate::unprivileged::{hand_over, run_as_nobody};
use crate::{Result, ServerError};
use crate::{RunningServer, find};

/// A running PostgreSQL with `ssl = on`, where the user `postgres` gets in without a password. It does not say which
/// connections were resumed.
#[derive(Debug)]
pub struct Postgres {
    site: Site,
}

impl Postgres {
    /// Makes a database and starts PostgreSQL; it accepts connections when this returns. Without an identity it speaks no
    /// TLS.
    ///
    /// # Errors
    /// [`ServerError::Spawn`] if it is not installed, [`ServerError::Program`] if the database cannot be made,
    /// [`ServerError::Died`] with the end of its log if it refuses the configuration, [`ServerError::File`] if its directory
    /// cannot be written.
    pub fn start(identity: Option<&Identity>) -> Result<Self> {
        let ground = ScratchDir::new(PROGRAM)?;
        let data = ground.root().join("data");
        hand_over(ground.root())?;
        make_database(&data)?;
        let mut settings = SETTINGS.map(str::to_owned).to_vec();
        if let Some(identity) = identity {
            let files = identity.write_pem(ground.root(), "server")?;
            hand_over(&files.certificate)?;
            hand_over(&files.key)?;
            let (certificate, key) = (files.certificate.display(), files.key.display());
            settings.extend(["ssl=on".to_owned(), format!("ssl_cert_file={certificate}"), format!("ssl_key_file={key}")]);
        }
        let site = ground.start(Ready::Says("ready to accept connections"), |_, address, command| {
            run_as_nobody(command);
            command.arg("-D").arg(&data);
            let addressed = [format!("listen_addresses={}", address.ip()), format!("port={}", address.port())];
            for setting in settings.iter().chain(&addressed) {
                command.args(["-c", setting]);
            }
            Ok(())
        })?;
        Ok(Self { site })
    }
}

impl PartialWitness for Postgres {
    fn running(&self) -> RunningServer {
        self.site.running()
    }

    /// Of each connection once it has named a user.
    fn connected(&self) -> Result<Vec<StarttlsAccount>> {
        let lines = self.site.output()?;
        self.site.read(lines.iter().filter(|line| line.contains(AUTHORIZED) && line.contains(TLS)), parse)
    }
}

const PROGRAM: &str = "postgres";
const AUTHORIZED: &str = "connection authorized: ";
const TLS: &str = "SSL enabled (protocol=";
const SETTINGS: [&str; 5] =
    ["unix_socket_directories=", "log_connections=on", "log_line_prefix=%r|", "fsync=off", "shared_buffers=1MB"];

/// `127.0.0.1(35826)|LOG:  connection authorized: user=x database=y SSL enabled (protocol=TLSv1.3, cipher=…`
fn parse(line: &str) -> Option<StarttlsAccount> {
    let client_port = line.split_once('(')?.1.split_once(")|")?.0.parse().ok()?;
    let version = line.split_once(TLS)?.1.split_once(',')?.0.to_owned();
    Some(StarttlsAccount { client_port, version })
}

fn make_database(data: &Path) -> Result<()> {
    let failed = |output: String| ServerError::Program { program: "initdb".to_owned(), output };
    let mut command = Command::new(find("initdb").unwrap_or_else(|| PathBuf::from("initdb")));
    run_as_nobody(&mut command);
    command.arg("-D").arg(data).args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale", "--no-sync"]);
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() { Ok(()) } else { Err(failed(String::from_utf8_lossy(&output.stderr).into_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_of_one_connection() {
        let line =
            "127.0.0.1(35826)|LOG:  connection authorized: user=a database=b SSL enabled (protocol=TLSv1.3, cipher=c)";
        assert_eq!(parse(line).unwrap(), StarttlsAccount { client_port: 35826, version: "TLSv1.3".to_owned() });
        for wrong in ["", "127.0.0.1(x)|SSL enabled (protocol=TLSv1.3,", "127.0.0.1(1)|SSL enabled (protocol="] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }
}
