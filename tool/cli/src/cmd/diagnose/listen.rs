//! `reprise diagnose --listen ADDR [-- COMMAND]`: does a client program resume; if not, why, and how to fix it?

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use reprise_connection::StartTls;
use reprise_diagnosis::{ClientRun, client_diagnosis};
use reprise_lab::{Authority, KeyKind, ServerSpec, WatchedConfig, WatchedServer};
use reprise_model::document::DiagnoseDocument;
use reprise_model::{Failure, FailureClass};
use reprise_probe::{Interrupt, load_certified_key};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::TempDir;

use super::command::{RunningCommand, Surroundings};
use super::finish;
use super::flags::DiagnoseArgs;
use super::listen_flags::ListenArgs;
use crate::connection_flags::ask_passphrase;
use crate::ending::Ending;
use crate::gate::Gate;
use crate::notice::notice;
use crate::outputs::Outputs;
use crate::provenance::provenance;
use crate::secrets::redacted;

/// How long a command may run where nothing else is said.
const COMMAND_TIME: Duration = Duration::from_secs(60);

/// More of a command does not help to recognise it.
const TITLE_CHARS: usize = 80;

/// How often the command, the clock and Ctrl-C are looked at.
const PAUSE: Duration = Duration::from_millis(10);

/// How long the last connections may take to end after their program has.
const SETTLING: Duration = Duration::from_millis(500);

/// Serves, watches and judges.
pub(super) fn run(
    arguments: &DiagnoseArgs,
    listen: SocketAddr,
    gate: &Gate,
    interrupt: &Interrupt,
) -> anyhow::Result<Ending> {
    let outputs = Outputs::open(&arguments.output, &[])?;
    let flags = &arguments.listen;
    let certificate = Certificate::of(arguments, listen)?;
    let starttls = arguments.probe.connection.starttls;
    let config = WatchedConfig { starttls, ..WatchedConfig::new(certificate.chain, certificate.key, listen) };
    let server = WatchedServer::start(config)?;
    let address = server.address();
    let host = host(flags, address.ip());
    let surroundings = Surroundings {
        scheme: starttls.map_or("https", StartTls::name),
        host: &host,
        address,
        ca: &certificate.ca,
        sets_trust: certificate.directory.is_some(),
    };
    notice(format_args!("listening on {address}; clients connect to {}", surroundings.url()));
    if flags.command.is_empty() && flags.duration.is_none() {
        notice("watching until Ctrl-C");
    }
    if certificate.directory.is_some() {
        notice(format_args!("CA file to trust: {}", certificate.ca.display()));
    }

    let began = Instant::now();
    let command = if flags.command.is_empty() { None } else { Some(surroundings.start(&flags.command)?) };
    let warnings = wait(command, flags.duration, &server, interrupt)?;

    let words: Vec<String> = flags.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let run = ClientRun {
        target: if words.is_empty() { format!("clients of {address}") } else { title(&words) },
        address: address.to_string(),
        command: words,
        failure: interrupt.is_raised().then(interrupted),
        watched_for: began.elapsed(),
        warnings,
    };
    let diagnosis = client_diagnosis(run, &server.watched());
    finish(arguments, gate, DiagnoseDocument::of(vec![diagnosis], provenance()), outputs)
}

/// What the server shows, and what its clients are to trust.
struct Certificate {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    ca: PathBuf,
    /// Where the lab's CA file stands, which goes with it.
    directory: Option<TempDir>,
}

impl Certificate {
    fn of(arguments: &DiagnoseArgs, listen: SocketAddr) -> anyhow::Result<Self> {
        if let Some((certificate, key)) = arguments.probe.connection.certificate_files()? {
            let (chain, key) = load_certified_key(certificate, key, &ask_passphrase)?;
            return Ok(Self { chain, key, ca: certificate.to_owned(), directory: None });
        }
        let authority = Authority::new()?;
        let mut spec = ServerSpec::new(KeyKind::P256);
        spec.names.insert(0, listen.ip().to_string());
        spec.names.splice(0..0, arguments.listen.names.iter().cloned());
        spec.names.dedup();
        let identity = authority.server(&spec).context("--name")?;
        let directory =
            tempfile::Builder::new().prefix("reprise-").tempdir().context("cannot create a directory for the CA file")?;
        let ca = directory.path().join("ca.pem");
        std::fs::write(&ca, authority.pem()).with_context(|| format!("cannot write {}", ca.display()))?;
        Ok(Self { chain: identity.chain().to_vec(), key: identity.key_der(), ca, directory: Some(directory) })
    }
}

/// The command as it may be published, on one line.
fn title(words: &[String]) -> String {
    let words = redacted(words.iter().cloned());
    let line = words.iter().flat_map(|word| word.split_whitespace()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The name that clients are told.
fn host(flags: &ListenArgs, ip: IpAddr) -> String {
    match flags.names.first() {
        Some(name) => name.clone(),
        None if ip.is_loopback() || ip.is_unspecified() => "localhost".to_owned(),
        None => ip.to_string(),
    }
}

/// Until the command and its connections have ended, the time is over, or Ctrl-C. Returns what the reader should know.
fn wait(
    mut command: Option<RunningCommand>,
    duration: Option<Duration>,
    server: &WatchedServer,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<String>> {
    let began = Instant::now();
    let limit = duration.or(command.as_ref().map(|_| COMMAND_TIME));
    while !interrupt.is_raised() {
        let ended = match &mut command {
            Some(command) => command.ended()?,
            None => None,
        };
        if let Some(status) = ended {
            settle(server, interrupt);
            let failed = (!status.success()).then(|| format!("The command ended with {status}"));
            return Ok(failed.into_iter().collect());
        }
        if limit.is_some_and(|limit| began.elapsed() >= limit) {
            let running = command.map(|_| {
                format!("The command was still running after {:.1} s and was stopped", began.elapsed().as_secs_f64())
            });
            return Ok(running.into_iter().collect());
        }
        thread::sleep(PAUSE);
    }
    Ok(Vec::new())
}

fn settle(server: &WatchedServer, interrupt: &Interrupt) {
    let began = Instant::now();
    while server.open() > 0 && began.elapsed() < SETTLING && !interrupt.is_raised() {
        thread::sleep(PAUSE);
    }
}

fn interrupted() -> Failure {
    Failure {
        class: FailureClass::Interrupted,
        name: "interrupted".to_owned(),
        message: "interrupted: these are the connections seen until then".to_owned(),
        hint: None,
        local_port: None,
    }
}
