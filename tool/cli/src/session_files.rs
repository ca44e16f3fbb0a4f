//! The flags that keep sessions from one process to the next, and the files behind them.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, bail};
use clap::Args;
use reprise_connection::Target;
use reprise_engine::Session;
use reprise_model::{Kind, Version};
use reprise_probe::saved::{Destination, SealingKey, SessionFile, Unused, load, server};
use reprise_probe::{Alpn, CertificateTrust, Options};
use reprise_report::Document;
use reprise_wire::CipherSuite;
use zeroize::Zeroizing;

use crate::connection_flags::prompt_passphrase;
use crate::notice::notice;

/// Where sessions come from and go to.
#[derive(Args, Clone)]
#[command(next_help_heading = "Resumption")]
pub(crate) struct SessionFileArgs {
    /// Offer the sessions that --session-out wrote, the newest first. Used TLS 1.3 tickets are removed from the file
    #[arg(long, value_name = "FILE")]
    session_in: Option<PathBuf>,
    /// Save the remaining sessions for another process. Keep the file private: with it, anyone can resume them
    #[arg(long, value_name = "FILE")]
    session_out: Option<PathBuf>,
    /// Encrypt the --session-out file, and decrypt the --session-in file, with the passphrase in the first line of this
    /// file; '-' prompts for it
    #[arg(long, value_name = "FILE")]
    session_passphrase_file: Option<PathBuf>,
}

/// The files, opened before anything is measured.
#[derive(Default)]
pub(crate) struct SessionFiles {
    loaded: Option<SessionFile>,
    /// Where what was not used of the loaded ones goes back to.
    unused: Option<Destination>,
    out: Option<(PathBuf, Destination)>,
}

impl SessionFileArgs {
    /// Whether a file is named, which is the sessions' of one target.
    pub(crate) fn need_a_target(&self) -> bool {
        self.session_in.is_some() || self.session_out.is_some()
    }

    /// The files that are named, with their flags.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Path)> {
        let named = [("--session-in", &self.session_in), ("--session-out", &self.session_out)];
        let named = named.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
        // Which is refused for what it is, whatever else goes to standard output.
        named.filter(|(_, path)| *path != Path::new("-")).collect()
    }

    /// Opens the files, and adds what was loaded to the options.
    pub(crate) fn open(self, target: &Target, options: &mut Options) -> anyhow::Result<SessionFiles> {
        let mut files = SessionFiles::default();
        let mut key = None;
        if let Some(path) = &self.session_in {
            let loaded = load(path, &|path| self.passphrase(path))?;
            options.sessions = fresh(path, &loaded.file, target, options)?;
            key = loaded.key.map(Arc::new);
            if options.sessions.iter().any(|session| matches!(session, Session::Tls13(_))) {
                files.unused = Some(Destination::open(path, key.clone())?);
            }
            files.loaded = Some(loaded.file);
        }
        if let Some(path) = self.session_out.clone() {
            if path == Path::new("-") {
                bail!("--session-out: refusing to write session secrets to standard output: name a file");
            }
            if let (None, Some(_)) = (&key, &self.session_passphrase_file) {
                let passphrase = self.passphrase(&path).map_err(anyhow::Error::msg)?;
                key = Some(Arc::new(
                    SealingKey::of_passphrase(&passphrase).context("cannot derive a key from the passphrase")?,
                ));
            }
            let destination = Destination::open(&path, key)?;
            files.out = Some((path, destination));
        } else if self.session_in.is_none() && self.session_passphrase_file.is_some() {
            bail!("--session-passphrase-file needs --session-in or --session-out");
        }
        check(options)?;
        Ok(files)
    }

    /// From the file that was named, or else from the terminal.
    fn passphrase(&self, sessions: &Path) -> Result<Zeroizing<String>, String> {
        let passphrase = match self.session_passphrase_file.as_deref().filter(|path| *path != Path::new("-")) {
            Some(path) => {
                let text = fs::read_to_string(path).map(Zeroizing::new);
                let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
                Zeroizing::new(text.lines().next().unwrap_or_default().to_owned())
            }
            None if io::stdin().is_terminal() => prompt_passphrase(sessions)?,
            None => return Err("set --session-passphrase-file, or run in a terminal to enter it".to_owned()),
        };
        if passphrase.is_empty() { Err("the passphrase is empty".to_owned()) } else { Ok(passphrase) }
    }
}

/// The loaded sessions that may be offered to this target.
fn fresh(path: &Path, file: &SessionFile, target: &Target, options: &Options) -> anyhow::Result<Vec<Session>> {
    let (shown, asked) = (path.display(), server(target, &options.server_name));
    if file.server != asked {
        bail!("the sessions in {shown} belong to {} and are not offered to {asked}", file.server);
    }
    if !file.verified && matches!(options.certificates, CertificateTrust::Roots(_)) {
        bail!(
            "the sessions in {shown} were made with --insecure: the certificate was not verified, and a resumption \
                inherits that. Create new sessions, or add --insecure"
        );
    }
    let fresh = file.fresh(SystemTime::now()).with_context(|| format!("cannot use the sessions in {shown}"))?;
    match (file.sessions.len(), fresh.len()) {
        (0, _) => bail!("{shown} has no unused session left: TLS 1.3 tickets are used once; --session-out saves new ones"),
        (_, 0) => bail!("the sessions in {shown} have expired: --session-out saves new ones"),
        _ => Ok(fresh),
    }
}

/// That something of what was loaded can be offered by what was asked for.
fn check(options: &Options) -> anyhow::Result<()> {
    let Options { kinds, versions, .. } = options;
    if options.sessions.is_empty() {
        return Ok(());
    }
    if !kinds.is_empty() && !kinds.iter().any(|kind| matches!(kind, Kind::Id | Kind::Ticket | Kind::Early)) {
        bail!("--session-in needs a kind that resumes: id, ticket or early");
    }
    let is_of = |session: &Session| match session {
        Session::Tls12(_) => versions.contains(&Version::Tls12),
        Session::Tls13(_) => versions.contains(&Version::Tls13),
    };
    if !versions.is_empty() && !options.sessions.iter().any(is_of) {
        bail!("--session-in has no session of the version in --tls");
    }
    // Offering a session offers its suite (RFC 5246 §7.4.1.3, RFC 9846 §4.3.11).
    let mut suites = options.sessions.iter().map(suite_of);
    if let Some(suite) = suites.find(|suite| !options.cipher_suites.is_empty() && !options.cipher_suites.contains(suite)) {
        bail!("--session-in has a session of {suite}, which is not in --ciphers: add it, or remove --ciphers");
    }
    // RFC 9846 §4.3.10: early data goes by the protocol of its ticket's connection.
    let early_alone = kinds.contains(&Kind::Early) && !kinds.contains(&Kind::Ticket);
    if let Some(protocol) = options.sessions.iter().filter_map(early_protocol).find(|it| early_alone && !offers(options, it))
    {
        let protocol = String::from_utf8_lossy(protocol);
        bail!("--session-in has a ticket whose early data uses {protocol}, which is not offered: add --alpn {protocol}");
    }
    Ok(())
}

fn suite_of(session: &Session) -> CipherSuite {
    match session {
        Session::Tls12(session) => session.suite.id,
        Session::Tls13(ticket) => ticket.suite.id,
    }
}

/// The protocol of a ticket that allows early data.
fn early_protocol(session: &Session) -> Option<&Vec<u8>> {
    match session {
        Session::Tls13(ticket) if ticket.max_early_data.is_some_and(|bytes| bytes > 0) => ticket.alpn.as_ref(),
        _ => None,
    }
}

fn offers(options: &Options, protocol: &Vec<u8>) -> bool {
    match &options.alpn {
        Alpn::Default => protocol == b"http/1.1",
        Alpn::Protocols(protocols) => protocols.contains(protocol),
    }
}

impl SessionFiles {
    /// Takes out what was used, and keeps what is left; of a run that measured nothing, no sessions take the place of earlier ones.
    pub(crate) fn save(self, unused: &Unused, measured: Document<'_>) -> anyhow::Result<()> {
        if let (Some(loaded), Some(destination)) = (&self.loaded, self.unused) {
            let remaining = unused.of_file(loaded);
            if remaining != *loaded {
                destination.write(&remaining)?;
            }
        }
        if let Some((path, destination)) = self.out.filter(|_| !measured.is_nothing()) {
            let file = unused.to_file(SystemTime::now());
            if file.sessions.is_empty() {
                notice(format_args!("the server issued no session: {} is empty", path.display()));
            }
            destination.write(&file)?;
        }
        Ok(())
    }
}
