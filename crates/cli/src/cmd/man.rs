//! `reprise man [DIR]`: manual pages from the same texts as `--help`.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Command};

use crate::ending::Ending;
use crate::outputs::print;

/// Print the manual page, or write one for each command.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// Write reprise.1, reprise-measure.1 and so on to this directory; without it, print reprise.1
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  reprise man | man -l -                           read it now
  reprise man ~/.local/share/man/man1              install all of them: man reprise-measure";

/// The pages of `command`, which is all of `reprise`.
pub(crate) fn run(arguments: &ManArgs, command: Command) -> anyhow::Result<Ending> {
    match &arguments.directory {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            print(&page)?;
        }
        Some(directory) => {
            let write = || {
                std::fs::create_dir_all(directory)?;
                clap_mangen::generate_to(command, directory)
            };
            write().with_context(|| format!("cannot write manual pages to {}", directory.display()))?;
        }
    }
    Ok(Ending::Done)
}
