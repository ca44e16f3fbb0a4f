//! `reprise layers`: what it costs to start again, and at which level.

mod subject;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use clap::Args;
use clap::builder::PossibleValue;
use reprise_connection::Target;
use reprise_lab::KeyKind;
use reprise_layers::{Layers, ResumedBy, layers};
use reprise_model::{Level, Version};
use reprise_pairs::{FoundStack, StackRef};
use reprise_probe::Interrupt;
use reprise_report::Document;

use crate::cmd::compare::{PluginArgs, Waiting, chosen, plugins};
use crate::ending::Ending;
use crate::outputs::{OutputArgs, Outputs};
use crate::provenance::provenance;
use crate::values::{self, explained, one_of};

use subject::Subject;

/// Measure the cost of starting again: process, library, context, connection, session.
///
/// A client makes one request again and again, each time started again at one level, without and with sessions. All levels
/// of all stacks take turns. Without a target, the server is an embedded lab on loopback.
#[derive(Args, Clone)]
#[command(after_help = EXAMPLES)]
pub(super) struct LayersArgs {
    /// HOST[:PORT][/PATH] or an https URL; the embedded lab by default
    target: Option<Target>,
    /// Levels: load, run, lib, libctx, ctx, bio, ssl, msg; all of them by default
    #[arg(long, value_delimiter = ',', help_heading = "Narrow")]
    levels: Vec<Level>,
    /// Use these stacks, by the names that 'reprise stacks' lists; by default the OpenSSL plugin, if present, and rustls
    #[arg(long, value_delimiter = ',', help_heading = "Narrow")]
    stacks: Vec<String>,
    /// Versions: 1.2, 1.3; by default the newest of each stack
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', help_heading = "Narrow")]
    tls: Vec<Version>,
    /// How to resume TLS 1.2 sessions
    #[arg(long, value_parser = one_of(session_kinds()), default_value = "ticket", help_heading = "Narrow")]
    kind: ResumedBy,
    /// Requests per row
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Measure")]
    count: u64,
    /// Seed of the random order
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Measure")]
    seed: u64,
    /// Maximum time to wait for the server
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = values::parse_duration, help_heading = "Measure")]
    timeout: Duration,
    /// Add this delay in each direction, through a relay
    #[arg(long, value_name = "DURATION", value_parser = values::parse_wait, help_heading = "Measure")]
    delay: Option<Duration>,
    /// Request method
    #[arg(short = 'X', long, default_value = "HEAD", value_parser = values::parse_method, help_heading = "Request")]
    method: String,
    /// Trust the root certificates in this PEM file
    #[arg(long, value_name = "FILE", visible_alias = "cacert", conflicts_with = "capath", help_heading = "Context")]
    ca: Option<PathBuf>,
    /// Trust the root certificates in all PEM files of this directory
    #[arg(long, value_name = "DIR", help_heading = "Context")]
    capath: Option<PathBuf>,
    /// Client certificate chain, PEM
    #[arg(short = 'E', long, value_name = "FILE", requires = "target", help_heading = "Context")]
    cert: Option<PathBuf>,
    /// Private key of --cert, PKCS #8 in PEM; by default read from the same file. The passphrase comes from
    /// REPRISE_KEY_PASSPHRASE or a prompt
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "Context")]
    key: Option<PathBuf>,
    /// Key of the lab's server certificate: p-256, p-384, rsa-2048, rsa-3072, rsa-4096, ed25519
    #[arg(long, value_name = "KIND", default_value = "p-256", conflicts_with = "target", value_parser = key_kind, help_heading = "Lab")]
    server_key: KeyKind,
    /// Have the lab request a client certificate, with a key of this kind
    #[arg(long, value_name = "KIND", conflicts_with = "target", value_parser = key_kind, help_heading = "Lab")]
    client_key: Option<KeyKind>,
    /// Encrypt the client key, so that each context decrypts it
    #[arg(long, requires = "client_key", help_heading = "Lab")]
    encrypted: bool,
    /// Trust this many CA certificates, one of them the lab's
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["target", "ca", "capath"], value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Lab")]
    cas: u32,
    /// Put each CA certificate in its own file, in one directory
    #[arg(long, conflicts_with_all = ["target", "ca", "capath"], help_heading = "Lab")]
    ca_directory: bool,
    #[command(flatten)]
    plugins: PluginArgs,
    #[command(flatten)]
    outputs: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  reprise layers                                     the embedded lab, 1000 requests a row
  reprise layers -n 100 --levels ctx,bio,ssl,msg     fewer, within one process
  reprise layers localhost:8443 --ca root.pem        a server of your own
  reprise layers --client-key rsa-2048 --encrypted   with a client key that is decrypted for each context";

/// How sessions are resumed.
fn session_kinds() -> [(PossibleValue, ResumedBy); 2] {
    let ticket = explained("ticket", "By ticket, or by session ID where the server issues no ticket");
    [(explained("id", "By session ID"), ResumedBy::Id), (ticket, ResumedBy::Ticket)]
}

/// The program beside the plugins that is started for each request.
const HELPER: &str = "reprise-run";

/// How long a batch may take that waits for nothing but the client.
const COMPUTING: Duration = Duration::from_secs(30);

pub(super) fn run(arguments: LayersArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let launcher = plugins::launcher(COMPUTING + 2 * arguments.timeout)?;
    let found = plugins::found_and_usable(&arguments.plugins, &launcher)?;
    let stacks = if arguments.stacks.is_empty() { usual(found) } else { chosen(found, &arguments.stacks)? };
    ensure!(
        arguments.kind == ResumedBy::Ticket || arguments.tls != [Version::Tls13],
        "--kind is for TLS 1.2: remove it, or add 1.2 to --tls"
    );
    let outputs = Outputs::open(&arguments.outputs, &[])?;
    let subject = Subject::new(&arguments, interrupt)?;
    let levels = if arguments.levels.is_empty() { Level::ALL.to_vec() } else { ordered(&arguments.levels) };
    let plan = Layers {
        peer: subject.peer,
        levels: &levels,
        versions: &arguments.tls,
        resumed_by: arguments.kind,
        stacks: &stacks,
        material: &subject.material,
        client_key: subject.client_key,
        count: arguments.count,
        timeout: arguments.timeout,
        helper: plugins::beside(&arguments.plugins, HELPER),
        seed: arguments.seed,
    };
    let mut waiting = Waiting::new("samples", interrupt);
    let document = layers(&plan, &launcher, provenance(), &mut waiting);
    waiting.progress.finish();
    outputs.write(Document::Layers(&document))?;
    Ok(match (document.interrupted, document.rows.is_empty()) {
        (true, _) => Ending::Interrupted,
        (false, true) => Ending::BadAnswer("no request was answered at any level: see 'Skipped'".to_owned()),
        (false, false) => Ending::Done,
    })
}

/// What most programs use: OpenSSL, and rustls.
fn usual(found: Vec<FoundStack>) -> Vec<FoundStack> {
    let is_usual = |found: &FoundStack| match &found.at {
        StackRef::BuiltIn(name) => name == "rustls-aws-lc",
        StackRef::Plugin(_) => found.name.starts_with("openssl"),
    };
    found.into_iter().filter(is_usual).collect()
}

/// each once, the most expensive first.
fn ordered(levels: &[Level]) -> Vec<Level> {
    Level::ALL.into_iter().filter(|level| levels.contains(level)).collect()
}

fn key_kind(name: &str) -> Result<KeyKind, String> {
    KeyKind::ALL.into_iter().find(|kind| kind.label() == name).ok_or_else(|| {
        let known = KeyKind::ALL.map(KeyKind::label).join(", ");
        format!("unknown key '{name}'; known: {known}")
    })
}
