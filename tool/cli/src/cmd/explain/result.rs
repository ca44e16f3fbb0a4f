//! `reprise explain RESULT`: where the time of a handshake goes, and what a change would bring.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::Args;
use reprise_explain::{Change, ExplainPlan, Measured, explain};
use reprise_model::document::{ExplainDocument, LoadDocument, MeasureDocument, TraceDocument};
use reprise_pairs::{Effort, FoundStack, StackRef};
use reprise_probe::Interrupt;
use reprise_report::Document;

use crate::cmd::compare::{PluginArgs, Waiting, plugins};
use crate::ending::Ending;
use crate::outputs::{OutputArgs, Outputs};
use crate::provenance::provenance;
use crate::saved_result::Saved;
use crate::values;

/// What is asked of a result.
#[derive(Args, Clone)]
#[command(next_help_heading = "Result")]
pub(super) struct ResultArgs {
    /// Predict a change: key=p-256,group=x25519mlkem768,rtt=80ms,kind=ticket,tls=1.3
    #[arg(long, value_name = "NAME=VALUE,…", value_parser = change)]
    what_if: Option<Change>,
    /// Let this stack's operations stand for the server's, by the names that 'reprise stacks' lists
    #[arg(long, value_name = "NAME")]
    server_stack: Option<String>,
    /// Signatures of certificates that the client verifies, where the result does not say
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=10))]
    certificates: Option<u64>,
    #[command(flatten)]
    plugins: PluginArgs,
}

fn change(text: &str) -> Result<Change, String> {
    Change::read(text, values::parse_wait)
}

impl ResultArgs {
    /// A cause has none of these.
    pub(super) fn check_absence(&self) -> anyhow::Result<()> {
        let is_absent = self.what_if.is_none() && self.server_stack.is_none() && self.certificates.is_none();
        ensure!(
            is_absent && self.plugins.files.is_empty(),
            "--what-if, --server-stack, --certificates and --plugin are for a result: name its file"
        );
        Ok(())
    }
}

/// As much of each operation.
const EFFORT: Effort = Effort { samples: 20, sample_ns: 2_000_000 };
/// How long a library may take for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The stack that our engine's operations are.
const ENGINE: &str = "rustls-aws-lc";
/// Software that is built on OpenSSL.
const ON_OPENSSL: [&str; 10] =
    ["nginx", "apache", "haproxy", "openssl", "envoy", "python", "node", "postfix", "dovecot", "postgresql"];

pub(super) fn run(
    file: &Path,
    arguments: &ResultArgs,
    outputs: &OutputArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<Ending> {
    let saved = Saved::read(file)?;
    let (measure, trace, load): (MeasureDocument, TraceDocument, LoadDocument);
    let (result, software) = match saved.schema.as_str() {
        MeasureDocument::SCHEMA => {
            measure = saved.document()?;
            (Measured::Measure(&measure), measure.software.as_deref())
        }
        TraceDocument::SCHEMA => {
            trace = saved.document()?;
            (Measured::Trace(&trace), None)
        }
        LoadDocument::SCHEMA => {
            load = saved.document()?;
            (Measured::Load(&load), None)
        }
        other => bail!("{} is of {other}: only results of measure, trace and load can be explained", saved.file),
    };
    let launcher = plugins::launcher(PATIENCE)?;
    let found = plugins::found_and_usable(&arguments.plugins, &launcher)?;
    let client = named(&found, ENGINE)?;
    let server = match &arguments.server_stack {
        Some(name) => named(&found, name)?,
        None => likely(&found, software).unwrap_or(client),
    };
    outputs.check(ExplainDocument::SCHEMA)?;
    let outputs = Outputs::open(outputs, &[])?;
    let plan = ExplainPlan {
        result,
        change: arguments.what_if.as_ref(),
        client,
        server,
        server_assumed: arguments.server_stack.is_none(),
        all: &found,
        certificates: arguments.certificates.unwrap_or(1),
        effort: EFFORT,
        seed: 1,
    };
    let mut waiting = Waiting::new("stacks prepared", interrupt);
    let explained = explain(&plan, &launcher, provenance(), &mut waiting);
    waiting.progress.finish();
    let document = explained.with_context(|| saved.file.clone())?;
    outputs.write(Document::Explain(&document))?;
    Ok(if document.interrupted { Ending::Interrupted } else { Ending::Done })
}

fn named<'a>(found: &'a [FoundStack], name: &str) -> anyhow::Result<&'a FoundStack> {
    let known: Vec<&str> = found.iter().map(|stack| stack.name.as_str()).collect();
    let stack = found.iter().find(|stack| stack.name == name);
    stack.with_context(|| format!("unknown stack '{name}'; available: {}", known.join(", ")))
}

/// The library that most servers have, unless their software says otherwise.
fn likely<'a>(found: &'a [FoundStack], software: Option<&str>) -> Option<&'a FoundStack> {
    let is_of_openssl = software.is_none_or(|software| {
        let software = software.to_lowercase();
        ON_OPENSSL.iter().any(|name| software.contains(name))
    });
    let is_openssl = |it: &&FoundStack| matches!(it.at, StackRef::Plugin(_)) && it.name.starts_with("openssl");
    found.iter().find(is_openssl).filter(|_| is_of_openssl)
}
