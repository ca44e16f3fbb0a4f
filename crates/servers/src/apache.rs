//! Apache httpd with mod_ssl, in a directory of its own.

use std::net::SocketAddr;
use std::path::Path;

use reprise_lab::{Identity, Versions};

use super::site::{Ready, ScratchDir, Site, filled_in};
use super::unprivileged::{is_root, open_to_all};
use super::{Account, ClientVerify, RealServer, RunningServer};
use crate::{Result, ServerError};

/// A running Apache that serves a small page at `/`.
#[derive(Debug)]
pub struct Apache {
    site: Site,
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
    /// Further directives of the server; what stands here, the driver does not set. `{address}` is where it listens, `{root}`
    /// the directory with `server-cert.pem`, `server-key.pem` and the folders `www` and `logs`.
    pub directives: String,
    /// Files beside its configuration, by their names.
    pub files: Vec<(&'static str, Vec<u8>)>,
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
            directives: String::new(),
            files: Vec::new(),
        }
    }
}

impl Apache {
    /// Starts Apache; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`ServerError::Spawn`] if it is not installed, [`ServerError::Died`] with the end of its log if it refuses the
    /// configuration, [`ServerError::File`] if its directory cannot be written.
    pub fn start(config: ApacheConfig) -> Result<Self> {
        let ground = ScratchDir::new(PROGRAM)?;
        ground.write_page()?;
        ground.make_directory("logs")?;
        open_to_all(ground.root())?;
        config.files.iter().try_for_each(|(name, contents)| ground.write(name, contents).map(drop))?;
        let tls = tls_directives(&config, &ground)?;
        // Apache writes its number when its sockets listen.
        let site = ground.start(Ready::File("apache.pid"), |ground, address, command| {
            let root = ground.root();
            let file = ground.write("apache.conf", &configuration(root, address, &filled_in(&tls, root, address)))?;
            command.args(["-D", "FOREGROUND", "-d"]).arg(root).arg("-f").arg(file);
            Ok(())
        })?;
        Ok(Self { site })
    }
}

impl RealServer for Apache {
    fn running(&self) -> RunningServer {
        self.site.running()
    }

    /// Apache logs requests: a connection counts by its first one.
    fn accounts(&mut self) -> Result<Vec<Account>> {
        self.site.lines_of("access.log")?.iter().filter_map(|line| parse(line).transpose()).collect()
    }
}

const PROGRAM: &str = "apache2";

/// Debian's place for modules; elsewhere the driver's start fails and says which file it misses.
const MODULES: &str = "/usr/lib/apache2/modules";

/// `%k` counts the requests that came before on the same connection.
const LOG_FORMAT: &str = "%{remote}p|%{SSL_SESSION_RESUMED}x|%{SSL_PROTOCOL}x|%{SSL_CIPHER}x|%{SSL_CLIENT_VERIFY}x|%k";

/// None for a later request of a connection.
fn parse(line: &str) -> Result<Option<Account>> {
    let malformed = || ServerError::Account { program: PROGRAM.to_owned(), line: line.to_owned() };
    let fields: Vec<&str> = line.split('|').collect();
    let [port, resumed, version, cipher, verify, before] = *fields else { return Err(malformed()) };
    if before != "0" {
        return Ok(None);
    }
    let resumed = match resumed {
        "Resumed" => true,
        "Initial" => false,
        _ => return Err(malformed()),
    };
    Ok(Some(Account {
        cipher: Some(cipher.to_owned()),
        client_verify: Some(verify.to_owned()),
        ..Account::new(port.parse().map_err(|_| malformed())?, resumed, version.to_owned())
    }))
}

fn configuration(root: &Path, address: SocketAddr, tls: &str) -> String {
    let root = root.display();
    let modules: String = ["mpm_event", "authz_core", "dir", "socache_dbm", "socache_shmcb", "ssl"]
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

/// Apache refuses to serve as root.
fn user_directive() -> &'static str {
    if is_root() { "User www-data\nGroup www-data" } else { "" }
}

fn tls_directives(config: &ApacheConfig, ground: &ScratchDir) -> Result<String> {
    let protocols = match config.versions {
        Versions::Tls12 => "-all +TLSv1.2",
        Versions::Tls13 => "-all +TLSv1.3",
        Versions::Both => "-all +TLSv1.2 +TLSv1.3",
    };
    let root = ground.root();
    let files = config.identity.write_pem(root, "server")?;
    let cache = if config.session_cache { format!("shmcb:{}/cache(512000)", root.display()) } else { "none".to_owned() };
    let tickets = if config.session_tickets { "on" } else { "off" };
    let own = [
        ("SSLProtocol", protocols),
        ("SSLCertificateFile", &*files.certificate.to_string_lossy()),
        ("SSLCertificateKeyFile", &*files.key.to_string_lossy()),
        ("SSLSessionCache", &*cache),
        ("SSLSessionTickets", tickets),
    ];
    let sets = |directive: &str| config.directives.lines().any(|line| line.split_whitespace().next() == Some(directive));
    let own = own.into_iter().filter(|(directive, _)| !sets(directive));
    let mut lines: String = own.map(|(directive, value)| format!("{directive} {value}\n")).collect();
    if let Some(authority) = ground.write_client_authority(&config.client_verify)? {
        let verify = if authority.required { "require" } else { "optional" };
        lines.push_str(&format!("SSLCACertificateFile {}\nSSLVerifyClient {verify}\n", authority.file.display()));
    }
    lines.push_str(&config.directives);
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
