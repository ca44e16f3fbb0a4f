//! `reprise layers`: what it costs to start again, and at which level.

mod flags;
mod subject;

use std::time::Duration;

use reprise_compare::{FoundStack, Layers, StackRef, layers};
use reprise_model::Level;
use reprise_probe::Interrupt;
use reprise_report::Document;

use crate::cmd::compare::{Waiting, chosen, plugins};
use crate::ending::Ending;
use crate::outputs::Outputs;
use crate::provenance::provenance;

pub(crate) use flags::LayersArgs;
use subject::Subject;

/// The program beside the plugins that is started for each request.
const HELPER: &str = "reprise-run";

/// How long a batch may take that waits for nothing but the client.
const COMPUTING: Duration = Duration::from_secs(30);

pub(crate) fn run(arguments: LayersArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let found = plugins::found(&arguments.plugins)?;
    let stacks = if arguments.stacks.is_empty() { usual(found) } else { chosen(found, &arguments.stacks)? };
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
        helper: plugins::folders(&arguments.plugins).iter().map(|folder| folder.join(HELPER)).find(|file| file.is_file()),
        seed: arguments.seed,
    };
    let launcher = plugins::launcher(COMPUTING + 2 * arguments.timeout)?;
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
