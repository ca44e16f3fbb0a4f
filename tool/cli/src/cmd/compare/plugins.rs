//! Where plugins are looked for, and how child processes are started.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use reprise_pairs::{Described, FailureKind, FoundStack, Launcher, StackRef, clean_path, describe, find};

use super::flags::PluginArgs;
use crate::cmd::CHILD;

/// Beside the program, and beside its folder: where `cargo xtask stacks` puts them, seen from `target/release/reprise`; and where
/// `reprise stacks install` puts them. Never the current folder: a plugin's code runs.
pub(crate) fn folders(arguments: &PluginArgs) -> Vec<PathBuf> {
    if !arguments.folders.is_empty() {
        return arguments.folders.iter().map(|folder| clean_path(folder)).collect();
    }
    let program = std::env::current_exe().ok();
    let folders = program.iter().flat_map(|program| program.ancestors().skip(1).take(2));
    folders.map(|folder| folder.join("stacks")).chain(home()).collect()
}

/// The user's own, of this version of Reprise: by the XDG Base Directory Specification. `None` without a home.
pub(crate) fn home() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("reprise").join(env!("CARGO_PKG_VERSION")).join("stacks"))
}

/// Every stack that there is.
pub(crate) fn found(arguments: &PluginArgs) -> anyhow::Result<Vec<FoundStack>> {
    let named: Vec<FoundStack> = arguments.files.iter().map(|file| FoundStack::plugin(file)).collect();
    let mut all = find(&folders(arguments)).context("cannot read a plugin directory")?;
    // Who names a file wants it, and not another of its name.
    all.retain(|found| named.iter().all(|it| it.name != found.name));
    all.extend(named);
    Ok(all)
}

/// The same. A file that is named and cannot be used is an error: nothing is measured without what was asked for.
pub(crate) fn found_and_usable(arguments: &PluginArgs, launcher: &Launcher) -> anyhow::Result<Vec<FoundStack>> {
    let all = found(arguments)?;
    let named: Vec<FoundStack> = arguments.files.iter().map(|file| FoundStack::plugin(file)).collect();
    for (at, plugin) in named.iter().enumerate() {
        if named.iter().take(at).any(|earlier| earlier.name == plugin.name) {
            bail!("two plugins have the name '{}': rename one of the files", plugin.name);
        }
    }
    for Described { found: plugin, info } in describe(&named, launcher) {
        let Err(failed) = info else { continue };
        match (failed.outcome, &plugin.at) {
            (FailureKind::Crashed | FailureKind::Hung, StackRef::Plugin(file)) => {
                bail!("cannot load {}: {}", file.display(), failed.reason)
            }
            _ => bail!(failed.reason),
        }
    }
    Ok(all)
}

/// A file beside the plugins, of the first folder that has it.
pub(crate) fn beside(arguments: &PluginArgs, file: &str) -> Option<PathBuf> {
    folders(arguments)
        .iter()
        .map(|folder| folder.join(file))
        .find(|file| file.is_file())
        .and_then(|it| it.canonicalize().ok())
}

/// This program again, as a child.
pub(crate) fn launcher(patience: Duration) -> anyhow::Result<Launcher> {
    let program = std::env::current_exe().context("cannot find this program, which runs the stacks in child processes")?;
    Ok(Launcher { program, arguments: vec![CHILD.into()], patience, environment: Vec::new() })
}
