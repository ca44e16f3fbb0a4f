//! PostgreSQL with a database of its own.

use std::net::SocketAddr;
use std::process::Command;

use reprise_lab::Identity;

use super::StarttlsAccount;
use crate::Result;
use crate::driver::{Driven, Driver, ReadySign};
use crate::program::run;
use crate::scratch::ScratchDir;
use crate::unprivileged::run_as_nobody;

/// A running PostgreSQL with `ssl = on`, where the user `postgres` gets in without a password. It does not say which
/// connections were resumed.
pub type Postgres = Driven<PostgresConfig>;

/// What PostgreSQL is told.
#[derive(Debug)]
pub struct PostgresConfig {
    /// The certificate chain and key; without them it speaks no TLS.
    pub identity: Option<Identity>,
    /// Further lines of its postgresql.conf.
    pub lines: Vec<String>,
}

impl Driver for PostgresConfig {
    type Account = StarttlsAccount;

    const PROGRAM: &'static str = "postgres";

    const READY: ReadySign = ReadySign::Says("ready to accept connections");

    const AS_NOBODY: bool = true;

    fn prepare(&self, directory: &ScratchDir) -> Result<()> {
        run("initdb", |command| {
            run_as_nobody(command);
            command.arg("-D").arg(directory.path(DATA)).args(["-A", "trust", "-U", "postgres", "-E", "UTF8"]);
            command.args(["--no-locale", "--no-sync"]);
        })?;
        Ok(())
    }

    fn configure(&self, directory: &ScratchDir, address: SocketAddr, command: &mut Command) -> Result<()> {
        command.arg("-D").arg(directory.path(DATA));
        directory.write(LINES, &format!("{}\n", self.lines.join("\n")))?;
        let mut settings = SETTINGS.map(str::to_owned).to_vec();
        settings.extend([format!("listen_addresses={}", address.ip()), format!("port={}", address.port())]);
        if let Some(identity) = &self.identity {
            let [certificate, key] = directory.write_identity("server", identity)?;
            settings.extend(["ssl=on".to_owned(), format!("ssl_cert_file={certificate}"), format!("ssl_key_file={key}")]);
        }
        for setting in &settings {
            command.args(["-c", setting]);
        }
        Ok(())
    }

    /// Of each connection once it has named a user.
    fn accounts(directory: &ScratchDir) -> Result<Vec<StarttlsAccount>> {
        let lines = directory.output_lines()?;
        directory.read(lines.iter().filter(|line| line.contains(AUTHORIZED) && line.contains(TLS)), parse)
    }
}

const DATA: &str = "data";
/// Read after its postgresql.conf.
const LINES: &str = "data/postgresql.auto.conf";
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
