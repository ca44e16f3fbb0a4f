//! ProFTPD with mod_tls, an FTP server on OpenSSL, in a directory of its own.

use std::collections::HashMap;

use reprise_lab::Identity;

use crate::driver::{Driven, Driver, ReadySign};
use crate::program::user_and_group;
use crate::scratch::ScratchDir;
use crate::unprivileged::{ids_of_nobody, owner_alone, run_as_nobody};
use crate::{Account, Result};

/// The user of [`ProFtpd`], and the password.
pub const FTP_USER: [&str; 2] = ["lab", "secret"];

/// A running ProFTPD where [`FTP_USER`] can log in. It says itself which connections were resumed.
///
/// It takes each connection with a process of its own, and after one of them has ended it waits for up to 0.2 s before it
/// takes the next.
pub type ProFtpd = Driven<ProFtpdConfig>;

/// What ProFTPD is told; [`ProFtpdConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct ProFtpdConfig {
    /// The certificate chain and key.
    pub identity: Identity,
    /// `TLSSessionTickets`; none for no such directive. Tickets are given and accepted whatever it says.
    pub session_tickets: Option<bool>,
    /// `TLSSessionCache`.
    pub session_cache: FtpSessionCache,
    /// `TLSEngine`: whether it knows TLS at all.
    pub speaks_tls: bool,
    /// Further directives.
    pub directives: String,
}

/// Where ProFTPD keeps sessions besides those in tickets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FtpSessionCache {
    /// No directive: the process of each connection keeps its own, and goes. IDs are given and never accepted.
    OneEach,
    /// `shm:…`, which the processes share. IDs are given, and never accepted all the same.
    Shared,
    /// `off`: no IDs are given.
    Off,
}

impl ProFtpdConfig {
    /// TLS, as it comes.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            session_tickets: None,
            session_cache: FtpSessionCache::OneEach,
            speaks_tls: true,
            directives: String::new(),
        }
    }
}

impl Driver for ProFtpdConfig {
    type Account = Account;

    const PROGRAM: &'static str = "proftpd";

    /// Written when it listens.
    const READY: ReadySign = ReadySign::File(PID_FILE);

    /// Without --nodaemon it would leave us.
    const ARGUMENTS: &'static [&'static str] = &["--nodaemon", "--config", "{file}"];

    const AS_NOBODY: bool = true;

    fn prepare(&self, directory: &ScratchDir) -> Result<()> {
        directory.make_directory("files")?;
        // As `openssl passwd -5 -salt reprise secret` writes it. To another than its own user it could not change.
        let hash = "$5$reprise$g75s7wqp/rQYjUnQdPCECr0uXvTuPJHgviB.N0gN0n2";
        let ([uid, gid], home) = (ids_of_nobody(), directory.path("files"));
        let [user, _] = FTP_USER;
        let users = directory.write(USERS, &format!("{user}:{hash}:{uid}:{gid}::{}:/bin/sh\n", home.display()))?;
        // It refuses one that others may read.
        owner_alone(&users)
    }

    fn configuration(&self, directory: &ScratchDir) -> Result<String> {
        let on_if = |on| if on { "on" } else { "off" };
        let kind = if self.identity.label().starts_with("rsa") { "RSA" } else { "EC" };
        // It takes no numbers.
        let [user, group] = user_and_group(run_as_nobody)?;
        let [certificate, key] = directory.write_identity("server", &self.identity)?;
        let engine = on_if(self.speaks_tls);
        let directives = &self.directives;
        let tickets = self.session_tickets.map(|on| format!("TLSSessionTickets {}\n", on_if(on))).unwrap_or_default();
        let cache = match self.session_cache {
            FtpSessionCache::OneEach => "",
            FtpSessionCache::Shared => "TLSSessionCache shm:/file={root}/cache\n",
            FtpSessionCache::Off => "TLSSessionCache off\n",
        };
        Ok(format!(
            r#"<IfModule mod_dso.c>
    ModulePath {MODULES}
    LoadModule mod_tls.c
    LoadModule mod_tls_shmcache.c
</IfModule>
ServerName lab
ServerType standalone
User {user}
Group {group}
DefaultAddress {{ip}}
Port {{port}}
SocketBindTight on
UseIPv6 off
UseReverseDNS off
DelayEngine off
AuthPAM off
WtmpLog off
ControlsEngine off
TransferLog NONE
ScoreboardFile none
PidFile {{root}}/{PID_FILE}
SystemLog {{root}}/system.log
TLSEngine {engine}
TLSLog {{root}}/{TLS_LOG}
TLSProtocol TLSv1.2 TLSv1.3
TLS{kind}CertificateFile {certificate}
TLS{kind}CertificateKeyFile {key}
{tickets}{cache}{directives}
AuthOrder mod_auth_file.c
AuthUserFile {{root}}/{USERS}
RequireValidShell off
LogFormat lab "{COMMAND_FORMAT}"
ExtendedLog {{root}}/{COMMAND_LOG} ALL lab
"#
        ))
    }

    /// Of each connection whose TLS was established. The process that served it joins the two logs: one knows the port, the
    /// other what became of the session.
    fn accounts(directory: &ScratchDir) -> Result<Vec<Account>> {
        let commands = directory.lines_of(COMMAND_LOG)?;
        let handshakes = directory.lines_of(TLS_LOG)?;
        let handshakes = handshakes.iter().filter(|line| line.contains(ACCEPTED));
        let by_process: HashMap<u32, Handshake> = directory.read(handshakes, handshake)?.into_iter().collect();
        let asked_for_tls = commands.iter().filter(|line| line.starts_with(MARK) && line.ends_with(ESTABLISHED));
        directory.read(asked_for_tls, |line| account(line, &by_process))
    }
}

const USERS: &str = "users";
const PID_FILE: &str = "proftpd.pid";
const TLS_LOG: &str = "tls.log";
const COMMAND_LOG: &str = "commands.log";

/// Where Debian keeps its modules; elsewhere they may be part of the program.
const MODULES: &str = "/usr/lib/proftpd";

const MARK: &str = "lab|";
/// Of each command: the process, the client's port, the command, and the reply to it.
const COMMAND_FORMAT: &str = "lab|%P|%{remote-port}|%m|%s";
const ESTABLISHED: &str = "|AUTH|234";
const ACCEPTED: &str = " connection accepted, using cipher ";

/// Version, cipher, and whether the session was resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Handshake {
    version: String,
    cipher: String,
    resumed: bool,
}

/// `… mod_tls/2.9.2[26753]: TLSv1.3 connection accepted, using cipher TLS_AES_256_GCM_SHA384 (256 bits, resumed session)`
fn handshake(line: &str) -> Option<(u32, Handshake)> {
    let (before, after) = line.split_once(ACCEPTED)?;
    let (process, version) = before.rsplit_once("]: ")?;
    let (cipher, rest) = after.split_once(' ')?;
    let process = process.rsplit_once('[')?.1.parse().ok()?;
    let resumed = rest.ends_with(", resumed session)");
    Some((process, Handshake { version: version.to_owned(), cipher: cipher.to_owned(), resumed }))
}

fn account(line: &str, by_process: &HashMap<u32, Handshake>) -> Option<Account> {
    let mut fields = line.strip_prefix(MARK)?.split('|');
    let (process, port) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let Handshake { version, cipher, resumed } = by_process.get(&process)?.clone();
    Some(Account { cipher: Some(cipher), ..Account::new(port, resumed, version) })
}
