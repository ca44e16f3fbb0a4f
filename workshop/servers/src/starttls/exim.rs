//! Exim, an SMTP server on GnuTLS, in a directory of its own.

use reprise_lab::Identity;

use crate::driver::{Driven, Driver, ReadySign};
use crate::program::user_and_group;
use crate::scratch::ScratchDir;
use crate::unprivileged::is_root;
use crate::{Account, Result};

/// A running Exim that offers STARTTLS and takes no mail. It says itself which connections were resumed.
pub type Exim = Driven<EximConfig>;

/// What Exim is told; [`EximConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct EximConfig {
    /// The certificate chain and key.
    pub identity: Identity,
    /// `tls_resumption_hosts`: everyone or nobody.
    pub resumption: bool,
    /// `tls_advertise_hosts`: whether STARTTLS is offered at all.
    pub offers_tls: bool,
}

impl EximConfig {
    /// Exim's defaults: STARTTLS for everyone, resumption for nobody.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self { identity, resumption: false, offers_tls: true }
    }
}

impl Driver for EximConfig {
    type Account = Account;

    const PROGRAM: &'static str = "exim4";

    /// Written when it listens.
    const READY: ReadySign = ReadySign::File(PID_FILE);

    const ARGUMENTS: &'static [&'static str] = &["-bdf", "-C", "{file}"];

    fn prepare(&self, directory: &ScratchDir) -> Result<()> {
        directory.make_directory("spool")
    }

    fn configuration(&self, directory: &ScratchDir) -> Result<String> {
        let everyone_if = |on| if on { "*" } else { "" };
        let (resumption, tls) = (everyone_if(self.resumption), everyone_if(self.offers_tls));
        // It does nothing as root unless it is told to; anyone else can be no other.
        let [user, group] = user_and_group(|_| ())?;
        let [certificate, key] = directory.write_identity("server", &self.identity)?;
        Ok(format!(
            "exim_user = {user}\n\
         exim_group = {group}\n\
         never_users =\n\
         keep_environment =\n\
         spool_directory = {{root}}/spool\n\
         log_file_path = {{root}}/%s.log\n\
         pid_file_path = {{root}}/{PID_FILE}\n\
         primary_hostname = localhost\n\
         local_interfaces = {{ip}}\n\
         daemon_smtp_ports = {{port}}\n\
         tls_advertise_hosts = {tls}\n\
         tls_certificate = {certificate}\n\
         tls_privatekey = {key}\n\
         tls_resumption_hosts = {resumption}\n\
         log_selector = +smtp_no_mail +tls_resumption +incoming_port +tls_cipher\n\
         host_lookup =\n\
         rfc1413_query_timeout = 0s\n\
         acl_smtp_rcpt = deny\n"
        ))
    }

    /// Of each connection over TLS that brought no mail, once it has ended.
    fn accounts(directory: &ScratchDir) -> Result<Vec<Account>> {
        let lines = if is_root() { directory.lines_of(MAIN_LOG)? } else { directory.output_lines()? };
        directory.read(lines.iter().filter(|line| line.contains(MARK) && line.contains(TLS)), parse)
    }
}

/// Root's. Anyone else may not write a log by a configuration of their own, and reads it on standard error.
const MAIN_LOG: &str = "main.log";
const PID_FILE: &str = "exim.pid";
const MARK: &str = "no MAIL in SMTP connection from ";
const TLS: &str = " X=TLS";

/// `… from ([127.0.0.1]) [127.0.0.1]:45084 D=0s X=TLS1.3:ECDHE_X25519__…__AES_128_GCM:128* CV=no C=EHLO,STARTTLS`: the
/// star says that the session was resumed.
fn parse(line: &str) -> Option<Account> {
    let (client, rest) = line.split_once(MARK)?.1.split_once(" D=")?;
    let port = client.rsplit_once("]:")?.1.parse().ok()?;
    let (version, suite) = rest.split_once(TLS)?.1.split(' ').next()?.split_once(':')?;
    let cipher = Some(suite.trim_end_matches('*').to_owned());
    Some(Account { cipher, ..Account::new(port, suite.contains('*'), format!("TLSv{version}")) })
}
