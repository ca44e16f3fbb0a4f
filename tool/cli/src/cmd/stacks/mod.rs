//! `reprise stacks`: what is there, whether it keeps the contract, and how to get more.

mod install;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, ensure};
use clap::{Args, Subcommand};
use reprise_compare::{CONFORMANCE_KEYS, Check, CheckOutcome, LIBRARIES, Library, LibrarySource, conformance};
use reprise_model::ServerChain;
use reprise_model::document::{AvailableStack, BrokenStack, StacksDocument};
use reprise_pairs::{Described, Failed, FoundStack, Keys, StackRef, describe};
use reprise_probe::Interrupt;

use super::compare::{PluginArgs, plugins};
use crate::ending::Ending;
use crate::outputs::{Output, print};
use crate::provenance::provenance;
use crate::values;

/// List the TLS libraries to compare, and check plugins
///
/// A plugin is a shared object with one function, tls/stacks/include/reprise_stack.h. Its code runs in a child process: name no
/// file that you do not trust.
#[derive(Args, Clone)]
pub(crate) struct StacksArgs {
    #[command(subcommand)]
    command: Option<StacksCommand>,
    /// Write the list as JSON (docs/schema/); - is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Maximum time a library may take to answer; then its process is killed [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = values::parse_duration, global = true)]
    timeout: Option<Duration>,
    #[command(flatten)]
    plugins: PluginArgs,
}

/// What else to do with stacks.
#[derive(Subcommand, Clone)]
pub(crate) enum StacksCommand {
    /// Check a plugin against the contract: handshakes of every kind with itself and with rustls, and rejection of what is
    /// invalid
    Check {
        /// Plugin file, or name of a stack
        stack: String,
    },
    /// Build plugins, and put them where 'reprise' looks for them: of the installed TLS libraries, or of pinned sources
    ///
    /// Needs make and a C compiler; sources also need bash, cargo, and apt-get, perl or cmake for some of them. Each archive is checked
    /// against its SHA-256.
    Install {
        /// Libraries, by the names that 'reprise stacks' lists; without any, all that are installed
        names: Vec<String>,
        /// All whose source is fetched, except those that 'reprise stacks' marks 'only by name'
        #[arg(long)]
        sources: bool,
        /// Directory of the plugins, in place of the user's data directory
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
}

/// How long a library may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(arguments: StacksArgs, _: &Interrupt) -> anyhow::Result<Ending> {
    let is_list = arguments.command.is_none();
    ensure!(is_list || arguments.json.is_none(), "--json is for the list: 'reprise stacks --json FILE'");
    if let Some(StacksCommand::Install { .. }) = arguments.command {
        let is_unused = arguments.timeout.is_some() || !arguments.plugins.files.is_empty();
        ensure!(!is_unused, "--timeout and --plugin are for plugins that are there: 'install' runs none");
    }
    match &arguments.command {
        None => list(&arguments),
        Some(StacksCommand::Check { stack }) => check(&arguments, stack),
        Some(StacksCommand::Install { names, sources, into }) => install::run(names, *sources, into.as_deref()),
    }
}

fn list(arguments: &StacksArgs) -> anyhow::Result<Ending> {
    let output = arguments.json.as_deref().map(Output::open).transpose()?;
    let document = document(arguments)?;
    if output.as_ref().is_none_or(|output| !output.is_standard()) {
        print(page(&document).as_bytes())?;
    }
    if let Some(output) = output {
        let mut bytes = serde_json::to_vec_pretty(&document)?;
        bytes.push(b'\n');
        output.write(&bytes)?;
    }
    Ok(match document.broken.len() {
        0 => Ending::Done,
        broken => Ending::BadAnswer(format!("{broken} of them cannot be used")),
    })
}

fn document(arguments: &StacksArgs) -> anyhow::Result<StacksDocument> {
    let launcher = plugins::launcher(arguments.timeout.unwrap_or(PATIENCE))?;
    let all = plugins::found(&arguments.plugins)?;
    let (mut stacks, mut broken) = (Vec::new(), Vec::new());
    for Described { found, info } in describe(&all, &launcher) {
        match info {
            Ok(info) => stacks.push(info),
            Err(Failed { outcome, reason }) => {
                let file = match &found.at {
                    StackRef::Plugin(file) => Some(file.display().to_string()),
                    StackRef::BuiltIn(_) => None,
                };
                broken.push(BrokenStack { name: found.name.clone(), file, outcome: outcome.name().to_owned(), reason });
            }
        }
    }
    let is_there = |library: &&Library| all.iter().any(|found| found.name == library.plugin);
    Ok(StacksDocument {
        schema: StacksDocument::SCHEMA.to_owned(),
        stacks,
        broken,
        directories: plugins::folders(&arguments.plugins).iter().map(|folder| folder.display().to_string()).collect(),
        available: LIBRARIES.iter().filter(|library| !is_there(library)).map(available).collect(),
        provenance: provenance(),
    })
}

/// How to get a library that is not there.
fn available(library: &Library) -> AvailableStack {
    let build = format!("reprise stacks install {}", library.plugin);
    let (install, named_only) = match library.origin {
        LibrarySource::System { header, file, .. } if install::is_installed(header, file).unwrap_or(false) => (build, None),
        LibrarySource::System { package, .. } => (format!("apt-get install {package}; {build}"), None),
        LibrarySource::Source { named_only, .. } => (build, named_only.map(str::to_owned)),
    };
    AvailableStack {
        name: library.plugin.to_owned(),
        library: library.title.to_owned(),
        licence: library.licence.to_owned(),
        install,
        named_only,
    }
}

fn page(document: &StacksDocument) -> String {
    let mut page = String::new();
    for stack in &document.stacks {
        let _ = writeln!(page, "{:<16} {} {}", stack.name, stack.library, stack.version);
        let flags = if stack.flags.is_empty() { "not said" } else { &stack.flags };
        let _ = writeln!(page, "{:<16}   {flags}; {}", "", stack.abilities.join(" "));
        if !stack.optimised.is_empty() {
            let _ = writeln!(page, "{:<16}   optimised: {}", "", stack.optimised.join(", "));
        }
        if let (Some(file), Some(hash)) = (&stack.file, &stack.sha256) {
            let _ = writeln!(page, "{:<16}   {file}, sha256 {hash}", "");
        }
    }
    for BrokenStack { name, outcome, reason, .. } in &document.broken {
        let _ = writeln!(page, "{name:<16} {outcome}: {reason}");
    }
    let _ = writeln!(page, "\nPlugin directories: {} (--plugins, REPRISE_STACKS).", document.directories.join(", "));
    if !document.available.is_empty() {
        page.push_str(MORE);
    }
    for AvailableStack { name, library, licence, install, named_only } in &document.available {
        let why = named_only.as_ref().map(|why| format!(" (only by name: {why})")).unwrap_or_default();
        let _ = writeln!(page, "{name:<16} {library}, {licence}\n{:<16}   {install}{why}", "");
    }
    page.push_str(OWN);
    page
}

const MORE: &str = "
More; 'reprise stacks install --sources' builds all of a pinned source except those marked 'only by name':
";

const OWN: &str = "\
Your own library: tls/stacks/include/reprise_stack.h is the contract; 'reprise stacks check FILE.so' tests a plugin against it.
";

fn check(arguments: &StacksArgs, stack: &str) -> anyhow::Result<Ending> {
    let stack = named(arguments, stack)?;
    let keys = Keys::make(CONFORMANCE_KEYS.map(|key| (key, ServerChain::One)))?;
    let checks = match conformance(&stack, &keys, &plugins::launcher(arguments.timeout.unwrap_or(PATIENCE))?) {
        Ok(checks) => checks,
        Err(Failed { outcome, reason }) => {
            return Ok(Ending::BadAnswer(format!("{} {}: {reason}", stack.name, outcome.name())));
        }
    };
    let mut page = String::new();
    let (mut failed, mut unsupported) = (0, 0);
    for Check { name, outcome } in &checks {
        let _ = match outcome {
            CheckOutcome::Passed => writeln!(page, "ok      {name}"),
            CheckOutcome::Unsupported(reason) => {
                unsupported += 1;
                writeln!(page, "cannot  {name}: {reason}")
            }
            CheckOutcome::Failed(reason) => {
                failed += 1;
                writeln!(page, "FAILED  {name}: {reason}")
            }
        };
    }
    let beyond = if unsupported > 0 { format!(", {unsupported} beyond what the library can do") } else { String::new() };
    let _ = writeln!(page, "{} checks, {failed} failed{beyond}", checks.len());
    print(page.as_bytes())?;
    Ok(match (checks.len(), failed) {
        (0, _) => Ending::BadAnswer(format!("{} supports nothing that can be checked", stack.name)),
        (_, 0) => Ending::Done,
        (all, failed) => Ending::BadAnswer(format!("{}: {failed} of {all} checks failed", stack.name)),
    })
}

/// A file, or a stack that is there.
fn named(arguments: &StacksArgs, stack: &str) -> anyhow::Result<FoundStack> {
    let file = Path::new(stack);
    if stack.contains('/') || file.extension().is_some_and(|end| end == "so") {
        return Ok(FoundStack::plugin(file));
    }
    let found = plugins::found(&arguments.plugins)?;
    match found.iter().find(|found| found.name == stack) {
        Some(found) => Ok(found.clone()),
        None => bail!("unknown stack '{stack}': use a name from 'reprise stacks', or a file"),
    }
}
