//! Dovecot, an IMAP and POP3 server, in a directory of its own.

use reprise_lab::Identity;

use super::StarttlsAccount;
use crate::Result;
use crate::driver::{Driven, Driver, ReadySign};
use crate::program::user_and_group;
use crate::scratch::ScratchDir;
use crate::unprivileged::{is_root, open_to_all};

/// A running Dovecot that offers STARTTLS. It does not say which connections were resumed.
pub type Dovecot = Driven<DovecotConfig>;

/// What Dovecot is told.
#[derive(Debug)]
pub struct DovecotConfig {
    /// The certificate chain and key.
    pub identity: Identity,
    /// Which protocol is served.
    pub access: MailAccess,
    /// Which processes take the connections before they have logged in.
    pub processes: LoginProcesses,
}

/// Which protocol is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailAccess {
    /// IMAP.
    Imap,
    /// POP3.
    Pop3,
}

/// Which processes take the connections before they have logged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginProcesses {
    /// `service_count = 1`, the default: each connection has a process of its own, and each process its own ticket keys.
    OneEach,
    /// `service_count = 0`: one process takes them all.
    Shared,
}

impl Driver for DovecotConfig {
    type Account = StarttlsAccount;

    const PROGRAM: &'static str = "dovecot";

    const READY: ReadySign = ReadySign::File(LOGIN_SOCKET);

    const ARGUMENTS: &'static [&'static str] = &["-F", "-c", "{file}"];

    fn prepare(&self, directory: &ScratchDir) -> Result<()> {
        open_to_all(directory.root())
    }

    fn configuration(&self, directory: &ScratchDir) -> Result<String> {
        let protocol = match self.access {
            MailAccess::Imap => "imap",
            MailAccess::Pop3 => "pop3",
        };
        let count = match self.processes {
            LoginProcesses::OneEach => 1,
            LoginProcesses::Shared => 0,
        };
        let [certificate, key] = directory.write_identity("server", &self.identity)?;
        let users = users()?;
        Ok(format!(
            "base_dir = {{root}}/run
state_dir = {{root}}/state
log_path = /dev/stderr
protocols = {protocol}
listen = {{ip}}
{users}
ssl = required
ssl_cert = <{certificate}
ssl_key = <{key}
ssl_min_protocol = TLSv1.2
mail_location = maildir:{{root}}/mail
login_log_format_elements = lab_port=%{{rport}} %c %k
passdb {{
  driver = static
  args = nopassword=y
}}
userdb {{
  driver = static
  args = uid=65534 gid=65534 home={{root}}/mail
}}
service {protocol}-login {{
  service_count = {count}
  process_min_avail = 1
  inet_listener {protocol} {{
    port = {{port}}
  }}
  inet_listener {protocol}s {{
    port = 0
  }}
}}
"
        ))
    }

    /// Of each connection once it has ended.
    fn accounts(directory: &ScratchDir) -> Result<Vec<StarttlsAccount>> {
        let lines = directory.output_lines()?;
        directory.read(lines.iter().filter(|line| line.contains(MARK) && line.contains(TLS)), parse)
    }
}

/// Made together with the port that it listens on.
const LOGIN_SOCKET: &str = "run/login/login";
const MARK: &str = "lab_port=";
const TLS: &str = ", TLS, ";

/// `…: lab_port=55586, TLS, TLSv1.3 with cipher …`
fn parse(line: &str) -> Option<StarttlsAccount> {
    let (port, rest) = line.split_once(MARK)?.1.split_once(TLS)?;
    Some(StarttlsAccount { client_port: port.parse().ok()?, version: rest.split_once(' ')?.0.to_owned() })
}

/// As root, Dovecot's own users, who are there with its package; anyone else can be no other, nor leave the root directory.
fn users() -> Result<String> {
    if !is_root() {
        let [user, group] = user_and_group(|_| ())?;
        let unrooted =
            ["imap-login", "pop3-login", "anvil", "stats"].map(|service| format!("service {service} {{\n  chroot =\n}}\n"));
        return Ok(format!(
            "default_internal_user = {user}\ndefault_internal_group = {group}\ndefault_login_user = {user}\n{}",
            unrooted.concat()
        ));
    }
    Ok(String::new())
}
