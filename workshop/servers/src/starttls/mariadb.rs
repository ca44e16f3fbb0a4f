//! MariaDB on OpenSSL, with a database of its own.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use reprise_lab::Identity;

use crate::Result;
use crate::driver::{Driven, Driver, ReadySign};
use crate::program::run;
use crate::real_server::until_there_are;
use crate::scratch::ScratchDir;
use crate::unprivileged::run_as_nobody;

/// A running MariaDB. It tells neither who connected from which port, nor which connections were resumed: its
/// `Ssl_session_cache_hits` stays at 0.
pub type MariaDb = Driven<MariaDbConfig>;

/// What MariaDB is told; [`MariaDbConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct MariaDbConfig {
    /// The certificate chain and key; without them it speaks no TLS.
    pub identity: Option<Identity>,
    /// A user who gets in without a password. All others are turned away.
    pub login: Option<&'static str>,
}

impl MariaDbConfig {
    /// With TLS, and for the user `reprise`.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self { identity: Some(identity), login: Some("reprise") }
    }
}

impl MariaDb {
    /// Where clients connect.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.server().address
    }

    /// The logins over TLS, each in the words of the log, once there are at least `expected` of them.
    ///
    /// # Errors
    /// [`LabError::File`](reprise_lab::LabError::File) if the log cannot be read; [`DriverError::Unaccounted`](crate::DriverError::Unaccounted) if there are still fewer after `deadline`.
    pub fn logins_when(&self, expected: usize, deadline: Duration) -> Result<Vec<String>> {
        until_there_are(expected, deadline, self.server().program, || MariaDbConfig::accounts(&self.directory))
    }
}

impl Driver for MariaDbConfig {
    /// The words of the log.
    type Account = String;

    const PROGRAM: &'static str = "mariadbd";

    const READY: ReadySign = ReadySign::Says("ready for connections");

    const AS_NOBODY: bool = true;

    fn prepare(&self, directory: &ScratchDir) -> Result<()> {
        let user = directory.write("user.sql", &self.login.map(user).unwrap_or_default())?;
        run("mariadb-install-db", |command| {
            run_as_nobody(command);
            begin(directory, command);
            command.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
            command.arg(format!("--extra-file={}", user.display()));
        })?;
        Ok(())
    }

    fn configure(&self, directory: &ScratchDir, address: SocketAddr, command: &mut Command) -> Result<()> {
        begin(directory, command);
        for (setting, name) in [("socket", "socket"), ("pid-file", "mariadbd.pid"), ("general-log-file", LOG)] {
            command.arg(format!("--{setting}={}", directory.path(name).display()));
        }
        command.arg("--general-log");
        if let Some(identity) = &self.identity {
            let [certificate, key] = directory.write_identity("server", identity)?;
            command.arg(format!("--ssl-cert={certificate}")).arg(format!("--ssl-key={key}"));
        }
        command.arg(format!("--bind-address={}", address.ip())).arg(format!("--port={}", address.port()));
        Ok(())
    }

    /// The logins over TLS.
    fn accounts(directory: &ScratchDir) -> Result<Vec<String>> {
        Ok(directory.lines_of(LOG)?.into_iter().filter(|line| line.ends_with(LOGIN)).collect())
    }
}

/// The arguments of a database, for what makes it and what serves it.
fn begin(directory: &ScratchDir, command: &mut Command) {
    // A MariaDB that starts deletes the temporary tables of all that share their directory with it.
    command.env("TMPDIR", directory.root());
    // It must come first.
    command.arg("--no-defaults").arg(format!("--datadir={}", directory.path("data").display())).args(SETTINGS);
}

/// Small, quick to end, and without the name of a host in a grant.
const SETTINGS: [&str; 6] = [
    "--skip-name-resolve",
    "--innodb-log-file-size=4M",
    "--innodb-buffer-pool-size=8M",
    "--innodb-flush-method=nosync",
    "--innodb-fast-shutdown=2",
    "--performance-schema=off",
];

const LOG: &str = "general.log";
const LOGIN: &str = " using SSL/TLS";

fn user(name: &str) -> String {
    format!("flush privileges;\ncreate user '{name}'@'%';\n")
}
