//! Apache httpd with mod_ssl, in a directory of its own.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::site::{directory, whole_lines, write};
use super::{Account, ClientVerify, Launch, Process, RealServer, find};
use crate::{Identity, LabError, Result, Versions};

/// A running Apache that serves a small page at `/`.
#[derive(Debug)]
pub struct Apache {
    // Fields drop in this order: the process ends before its directory goes.
    process: Process,
    address: SocketAddr,
    directory: TempDir,
}

/// What Apache is told; [`ApacheConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct ApacheConfig {
    /// The certificate chain and key.
    pub identity: Identity,
    /// `SSLProtocol`.
    pub versions: Versions,
    /// `SSLSessionTickets`.
    pub session_tickets: bool,
    /// `SSLSessionCache shmcb:…` instead of `none`.
    pub session_cache: bool,
    /// `SSLVerifyClient` and `SSLCACertificateFile`.
    pub client_verify: ClientVerify,
}

impl ApacheConfig {
    /// Both versions, with mod_ssl's defaults: tickets on, no cache.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            versions: Versions::Both,
            session_tickets: true,
            session_cache: false,
            client_verify: ClientVerify::Off,
        }
    }
}

impl Apache {
    /// Starts Apache; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`LabError::Spawn`] if it is not installed, [`LabError::Died`] with the end of its log if it refuses the
    /// configuration, [`LabError::File`] if its directory cannot be written.
    pub fn start(config: ApacheConfig) -> Result<Self> {
        let directory = directory()?;
        let root = directory.path().to_owned();
        let www = root.join("www");
        fs::create_dir(&www).map_err(|source| LabError::File { path: www.clone(), source })?;
        write(&www.join("index.html"), "<!doctype html><title>Reprise lab</title>\n")?;
        open_to_all(&root)?;
        let tls = tls_directives(&config, &root)?;
        let pid_file = root.join("apache.pid");
        let command = |address: SocketAddr| {
            let _ = fs::remove_file(&pid_file);
            let file = root.join("apache.conf");
            write(&file, &configuration(&root, address, &tls))?;
            let mut command = Command::new(find(PROGRAM).unwrap_or_else(|| PathBuf::from(PROGRAM)));
            command.args(["-D", "FOREGROUND", "-d"]).arg(&root).arg("-f").arg(file);
            Ok(command)
        };
        let log = root.join("output.log");
        // Apache writes it when its sockets listen.
        let launch = Launch { program: PROGRAM, log: &log, listens: &|| pid_file.exists() };
        let (process, address) = Process::on_free_port(&launch, command)?;
        Ok(Self { process, address, directory })
    }
}

impl RealServer for Apache {
    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn address(&self) -> SocketAddr {
        self.address
    }

    fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Apache logs requests: a connection counts by its first one.
    fn accounts(&mut self) -> Result<Vec<Account>> {
        let lines = whole_lines(&self.directory.path().join("access.log"))?;
        let mut accounts = Vec::new();
        for line in lines {
            accounts.extend(parse(&line)?);
        }
        Ok(accounts)
    }
}

const PROGRAM: &str = "apache2";

/// Debian's place for modules; elsewhere the driver's start fails and says which file it misses.
const MODULES: &str = "/usr/lib/apache2/modules";

/// `%k` counts the requests that came before on the same connection.
const LOG_FORMAT: &str = "%{remote}p|%{SSL_SESSION_RESUMED}x|%{SSL_PROTOCOL}x|%{SSL_CIPHER}x|%{SSL_CLIENT_VERIFY}x|%k";

/// None for a later request of a connection.
fn parse(line: &str) -> Result<Option<Account>> {
    let malformed = || LabError::Account { program: PROGRAM.to_owned(), line: line.to_owned() };
    let fields: Vec<&str> = line.split('|').collect();
    let [port, resumed, version, cipher, verify, before] = *fields else { return Err(malformed()) };
    if before != "0" {
        return Ok(None);
    }
    Ok(Some(Account {
        client_port: port.parse().map_err(|_| malformed())?,
        resumed: match resumed {
            "Resumed" => true,
            "Initial" => false,
            _ => return Err(malformed()),
        },
        version: version.to_owned(),
        cipher: Some(cipher.to_owned()),
        group: None,
        client_verify: Some(verify.to_owned()),
        early_data: None,
    }))
}

fn configuration(root: &Path, address: SocketAddr, tls: &str) -> String {
    let root = root.display();
    let modules: String = ["mpm_event", "authz_core", "dir", "socache_shmcb", "ssl"]
        .map(|module| format!("LoadModule {module}_module {MODULES}/mod_{module}.so\n"))
        .concat();
    format!(
        r#"{modules}
ServerName localhost
Listen {address}
PidFile {root}/apache.pid
DefaultRuntimeDir {root}
Mutex file:{root}
ErrorLog {root}/error.log
LogFormat "{LOG_FORMAT}" lab
CustomLog {root}/access.log lab
DocumentRoot {root}/www
DirectoryIndex index.html
StartServers 1
ServerLimit 1
ThreadsPerChild 25
MaxRequestWorkers 25
{user}
<Directory {root}/www>
    Require all granted
</Directory>
SSLEngine on
{tls}
"#,
        user = user_directive()
    )
}

/// Apache refuses to serve as root, and another user could not enter a private directory. The key in it stays private.
fn open_to_all(root: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let failed = |source| LabError::File { path: root.to_owned(), source };
    fs::set_permissions(root, fs::Permissions::from_mode(0o755)).map_err(failed)
}

fn user_directive() -> &'static str {
    if rustix::process::geteuid().is_root() { "User www-data\nGroup www-data" } else { "" }
}

fn tls_directives(config: &ApacheConfig, root: &Path) -> Result<String> {
    let protocols = match config.versions {
        Versions::Tls12 => "-all +TLSv1.2",
        Versions::Tls13 => "-all +TLSv1.3",
        Versions::Both => "-all +TLSv1.2 +TLSv1.3",
    };
    let files = config.identity.write_pem(root, "server")?;
    let cache = if config.session_cache { format!("shmcb:{}/cache(512000)", root.display()) } else { "none".to_owned() };
    let tickets = if config.session_tickets { "on" } else { "off" };
    let mut lines = format!(
        "SSLProtocol {protocols}\nSSLCertificateFile {}\nSSLCertificateKeyFile {}\nSSLSessionCache {cache}\nSSLSessionTickets {tickets}\n",
        files.certificate.display(),
        files.key.display()
    );
    if let ClientVerify::Optional(authority) | ClientVerify::Required(authority) = &config.client_verify {
        let file = root.join("client-ca.pem");
        write(&file, authority)?;
        let verify = if matches!(config.client_verify, ClientVerify::Required(_)) { "require" } else { "optional" };
        lines.push_str(&format!("SSLCACertificateFile {}\nSSLVerifyClient {verify}\n", file.display()));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_of_a_connection_counts() {
        let account = parse("40001|Resumed|TLSv1.3|TLS_AES_256_GCM_SHA384|SUCCESS|0").unwrap().unwrap();
        assert_eq!((account.client_port, account.resumed), (40001, true));
        assert_eq!(account.client_verify.as_deref(), Some("SUCCESS"));
        assert_eq!(parse("40001|Initial|TLSv1.3|X|NONE|1").unwrap(), None);
        for line in ["", "40001|Initial", "x|Initial|TLSv1.3|X|NONE|0", "1|?|TLSv1.3|X|NONE|0"] {
            assert!(parse(line).is_err(), "{line:?}");
        }
    }
}
