//! MariaDB on OpenSSL, with a database of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use reprise_lab::Identity;

use crate::find;
use crate::real_server::until_there_are;
use crate::site::{Ready, ScratchDir, Site};
use crate::unprivileged::{hand_over, run_as_nobody};
use crate::{Result, ServerError};

/// A running MariaDB. It tells neither who connected from which port, nor which connections were resumed: its
/// `Ssl_session_cache_hits` stays at 0.
#[derive(Debug)]
pub struct MariaDb {
    site: Site,
}

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
    /// Makes a database and starts MariaDB; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`ServerError::Spawn`] if it is not installed, [`ServerError::Program`] if the database cannot be made,
    /// [`ServerError::Died`] with the end of its log if it refuses the configuration, [`ServerError::File`] if its directory
    /// cannot be written.
    pub fn start(config: &MariaDbConfig) -> Result<Self> {
        let ground = ScratchDir::new(PROGRAM)?;
        hand_over(ground.root())?;
        let user = ground.write("user.sql", &config.login.map(user).unwrap_or_default())?;
        hand_over(&user)?;
        make_database(ground.root(), &user)?;
        let mut settings = SETTINGS.map(str::to_owned).to_vec();
        settings.extend([format!("--datadir={}", data(ground.root()).display()), in_root(&ground, "socket", "socket")]);
        settings.push(in_root(&ground, "pid-file", "mariadbd.pid"));
        settings.extend(["--general-log".to_owned(), in_root(&ground, "general-log-file", LOG)]);
        if let Some(identity) = &config.identity {
            let files = identity.write_pem(ground.root(), "server")?;
            hand_over(&files.key)?;
            let (certificate, key) = (files.certificate.display(), files.key.display());
            settings.extend([format!("--ssl-cert={certificate}"), format!("--ssl-key={key}")]);
        }
        let site = ground.start(Ready::Says("ready for connections"), |ground, address, command| {
            run_as_nobody(command);
            keep_temporaries_in(ground.root(), command);
            // It must come first.
            command.arg("--no-defaults").args(&settings);
            command.arg(format!("--bind-address={}", address.ip())).arg(format!("--port={}", address.port()));
            Ok(())
        })?;
        Ok(Self { site })
    }

    /// Where clients connect.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.site.running().address
    }

    /// The logins over TLS, each in the words of the log, once there are at least `expected` of them.
    ///
    /// # Errors
    /// [`ServerError::File`] if the log cannot be read; [`ServerError::Unaccounted`] if there are still fewer after `deadline`.
    pub fn logins_when(&self, expected: usize, deadline: Duration) -> Result<Vec<String>> {
        until_there_are(expected, deadline, PROGRAM, || {
            let lines = self.site.lines_of(LOG)?;
            Ok(lines.into_iter().filter(|line| line.ends_with(LOGIN)).collect())
        })
    }
}

const PROGRAM: &str = "mariadbd";
const INSTALLER: &str = "mariadb-install-db";

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

/// A MariaDB that starts deletes the temporary tables of all that share their directory with it.
fn keep_temporaries_in(root: &Path, command: &mut Command) {
    command.env("TMPDIR", root);
}

fn make_database(root: &Path, user: &Path) -> Result<()> {
    let failed = |output: String| ServerError::Program { program: INSTALLER.to_owned(), output };
    let mut command = Command::new(find(INSTALLER).unwrap_or_else(|| PathBuf::from(INSTALLER)));
    run_as_nobody(&mut command);
    keep_temporaries_in(root, &mut command);
    command.arg("--no-defaults").arg(format!("--datadir={}", data(root).display())).args(SETTINGS);
    command.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
    command.arg(format!("--extra-file={}", user.display()));
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    let said = [output.stdout, output.stderr].concat();
    if output.status.success() { Ok(()) } else { Err(failed(String::from_utf8_lossy(&said).into_owned())) }
}

fn data(root: &Path) -> PathBuf {
    root.join("data")
}

fn in_root(ground: &ScratchDir, setting: &str, name: &str) -> String {
    format!("--{setting}={}", ground.root().join(name).display())
}
