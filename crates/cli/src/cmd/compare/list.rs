//! `reprise stacks`: what is there, whether it keeps the contract, and how to get more.

use std::fmt::Write;
use std::path::Path;

use anyhow::bail;
use reprise_compare::{
    CONFORMANCE_KEYS, Failed, FoundStack, Keys, LIBRARIES, Library, LibrarySource, StackRef, conformance, describe,
};
use reprise_model::ServerChain;
use reprise_probe::Interrupt;

use super::flags::{StacksArgs, StacksCommand};
use super::{install, plugins};
use crate::ending::Ending;
use crate::outputs::print;

pub(crate) fn run(arguments: StacksArgs, _: &Interrupt) -> anyhow::Result<Ending> {
    match &arguments.command {
        None => list(&arguments),
        Some(StacksCommand::Check { stack }) => check(&arguments, stack),
        Some(StacksCommand::Install { names, sources, into }) => install::run(names, *sources, into.as_deref()),
    }
}

fn list(arguments: &StacksArgs) -> anyhow::Result<Ending> {
    let launcher = plugins::launcher(arguments.timeout)?;
    let mut page = String::new();
    let mut broken = 0;
    let all = plugins::found(&arguments.plugins)?;
    for (found, info) in describe(&all, &launcher) {
        match info {
            Ok(info) => {
                let _ = writeln!(page, "{:<16} {} {}", found.name, info.library, info.version);
                let flags = if info.flags.is_empty() { "not said" } else { &info.flags };
                let _ = writeln!(page, "{:<16}   {flags}; {}", "", info.abilities.join(" "));
                if let (StackRef::Plugin(file), Some(hash)) = (&found.at, &info.sha256) {
                    let _ = writeln!(page, "{:<16}   {}, sha256 {hash}", "", file.display());
                }
            }
            Err(Failed { outcome, reason }) => {
                broken += 1;
                let _ = writeln!(page, "{:<16} {}: {reason}", found.name, outcome.name());
            }
        }
    }
    let folders: Vec<String> =
        plugins::folders(&arguments.plugins).iter().map(|folder| folder.display().to_string()).collect();
    let _ = writeln!(page, "\nPlugin directories: {} (--plugins, REPRISE_STACKS).", folders.join(", "));
    page.push_str(&rest(&all));
    page.push_str(OWN);
    print(page.as_bytes())?;
    Ok(match broken {
        0 => Ending::Done,
        broken => Ending::BadAnswer(format!("{broken} of them cannot be used")),
    })
}

const OWN: &str = "\
Your own library: stacks/include/reprise_stack.h is the contract; 'reprise stacks check FILE.so' tests a plugin against it.
";

/// How to get each library that is not there.
fn rest(found: &[FoundStack]) -> String {
    let missing = |library: &&Library| found.iter().all(|found| found.name != library.plugin);
    let mut page = String::new();
    for library in LIBRARIES.iter().filter(missing) {
        let how = match library.origin {
            LibrarySource::System { package, .. } => {
                format!("apt-get install {package}; reprise stacks install {}", library.plugin)
            }
            LibrarySource::Source { named_only: Some(why), .. } => {
                format!("reprise stacks install {} (only by name: {why})", library.plugin)
            }
            LibrarySource::Source { .. } => format!("reprise stacks install {}", library.plugin),
        };
        if page.is_empty() {
            page.push_str("\nMore; 'reprise stacks install --sources' builds all of a pinned source except those marked 'only by name':\n");
        }
        let _ = writeln!(page, "{:<16} {}, {}\n{:<16}   {how}", library.plugin, library.title, library.licence, "");
    }
    page
}

fn check(arguments: &StacksArgs, stack: &str) -> anyhow::Result<Ending> {
    let stack = named(arguments, stack)?;
    let keys = Keys::make(CONFORMANCE_KEYS.map(|key| (key, ServerChain::One)))?;
    let checks = match conformance(&stack, &keys, &plugins::launcher(arguments.timeout)?) {
        Ok(checks) => checks,
        Err(Failed { outcome, reason }) => {
            return Ok(Ending::BadAnswer(format!("{} {}: {reason}", stack.name, outcome.name())));
        }
    };
    let mut page = String::new();
    for check in &checks {
        let _ = match &check.failure {
            None => writeln!(page, "ok      {}", check.name),
            Some(failure) => writeln!(page, "FAILED  {}: {failure}", check.name),
        };
    }
    let failed = checks.iter().filter(|check| check.failure.is_some()).count();
    let _ = writeln!(page, "{} checks, {failed} failed", checks.len());
    print(page.as_bytes())?;
    Ok(match (checks.len(), failed) {
        (0, _) => Ending::BadAnswer(format!("{} supports nothing that can be checked", stack.name)),
        (_, 0) => Ending::Done,
        (_, failed) => Ending::BadAnswer(format!("{} violates the contract: {failed} checks failed", stack.name)),
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
