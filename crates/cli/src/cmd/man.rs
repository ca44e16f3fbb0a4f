//! `reprise man [DIR]`: manual pages from the same texts as `--help`.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use reprise_probe::Interrupt;

use crate::ending::Ending;
use crate::help;
use crate::outputs::print;

/// Print the manual page, or write one for each command.
#[derive(Args, Clone)]
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

pub(super) fn run(arguments: ManArgs, _: &Interrupt) -> anyhow::Result<Ending> {
    let command = help::command(&[]);
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
