//! Apache httpd with mod_ssl, in a directory of its own.

use reprise_lab::{Identity, Versions};

use super::driver::{Driven, Driver, ReadySign};
use super::scratch::ScratchDir;
use super::unprivileged::{is_root, open_to_all};
use super::{Account, ClientVerify};
use crate::Result;

/// A running Apache that serves a small page at `/`.
pub type Apache = Driven<ApacheConfig>;

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

impl Driver for ApacheConfig {
    type Account = Account;

    const PROGRAM: &'static str = "apache2";

    /// Apache writes its number when its sockets listen.
    const READY: ReadySign = ReadySign::File("apache.pid");

    const ARGUMENTS: &'static [&'static str] = &["-D", "FOREGROUND", "-d", "{root}", "-f", "{file}"];

    fn prepare(&self, directory: &ScratchDir) -> Result<()> {
        directory.write_page()?;
        directory.make_directory("logs")?;
        open_to_all(directory.root())?;
        directory.write_all(&self.files)
    }

    fn configuration(&self, directory: &ScratchDir) -> Result<String> {
        Ok(configuration(&tls_directives(self, directory)?))
    }

    /// Apache logs requests: a connection counts by its first one.
    fn accounts(directory: &ScratchDir) -> Result<Vec<Account>> {
        let told = directory.read(directory.lines_of("access.log")?.iter(), parse)?;
        Ok(told.into_iter().flatten().collect())
    }
}

/// Debian's place for modules; elsewhere the driver's start fails and says which file it misses.
const MODULES: &str = "/usr/lib/apache2/modules";

/// `%k` counts the requests that came before on the same connection.
const LOG_FORMAT: &str = "%{remote}p|%{SSL_SESSION_RESUMED}x|%{SSL_PROTOCOL}x|%{SSL_CIPHER}x|%{SSL_CLIENT_VERIFY}x|%k";

/// `Some(None)` for a later request of a connection.
fn parse(line: &str) -> Option<Option<Account>> {
    let fields: Vec<&str> = line.split('|').collect();
    let [port, resumed, version, cipher, verify, before] = *fields else { return None };
    if before != "0" {
        return Some(None);
    }
    let resumed = ["Initial", "Resumed"].iter().position(|known| *known == resumed)? == 1;
    Some(Some(Account {
        cipher: Some(cipher.to_owned()),
        client_verify: Some(verify.to_owned()),
        ..Account::new(port.parse().ok()?, resumed, version.to_owned())
    }))
}

fn configuration(tls: &str) -> String {
    let modules: String = ["mpm_event", "authz_core", "dir", "socache_dbm", "socache_shmcb", "ssl"]
        .map(|module| format!("LoadModule {module}_module {MODULES}/mod_{module}.so\n"))
        .concat();
    format!(
        r#"{modules}
ServerName localhost
Listen {{address}}
PidFile {{root}}/apache.pid
DefaultRuntimeDir {{root}}
Mutex file:{{root}}
ErrorLog {{root}}/error.log
LogFormat "{LOG_FORMAT}" lab
CustomLog {{root}}/access.log lab
DocumentRoot {{root}}/www
DirectoryIndex index.html
StartServers 1
ServerLimit 1
ThreadsPerChild 25
MaxRequestWorkers 25
{user}
<Directory {{root}}/www>
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

fn tls_directives(config: &ApacheConfig, directory: &ScratchDir) -> Result<String> {
    let protocols = match config.versions {
        Versions::Tls12 => "-all +TLSv1.2",
        Versions::Tls13 => "-all +TLSv1.3",
        Versions::Both => "-all +TLSv1.2 +TLSv1.3",
    };
    let [certificate, key] = directory.write_identity("server", &config.identity)?;
    let cache = if config.session_cache { "shmcb:{root}/cache(512000)" } else { "none" };
    let tickets = if config.session_tickets { "on" } else { "off" };
    let own = [
        ("SSLProtocol", protocols),
        ("SSLCertificateFile", &certificate),
        ("SSLCertificateKeyFile", &key),
        ("SSLSessionCache", cache),
        ("SSLSessionTickets", tickets),
    ];
    let sets = |directive: &str| config.directives.lines().any(|line| line.split_whitespace().next() == Some(directive));
    let own = own.into_iter().filter(|(directive, _)| !sets(directive));
    let mut lines: String = own.map(|(directive, value)| format!("{directive} {value}\n")).collect();
    if let Some(authority) = directory.write_client_authority(&config.client_verify)? {
        let verify = if authority.required { "require" } else { "optional" };
        lines.push_str(&format!("SSLCACertificateFile {}\nSSLVerifyClient {verify}\n", authority.file));
    }
    lines.push_str(&config.directives);
    Ok(lines)
}
