//! `reprise man [DIR]`: manual pages from the same texts as `--help`, and what those leave to the guide: how a command ends, what it reads.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use reprise_probe::Interrupt;

use crate::ending::{self, Ending};
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

/// What all commands read of the environment. Flags that have a variable name it themselves.
const ENVIRONMENT: [(&str, &str); 6] = [
    (
        "NO_COLOR, CLICOLOR_FORCE",
        "Output without colour, and with it where it goes to no terminal; --color goes before them.",
    ),
    ("COLUMNS", "How wide output may be, instead of the terminal's width."),
    ("SSLKEYLOGFILE", "Secrets of connections are appended to this file, so that others can decrypt them."),
    ("REPRISE_KEY_PASSPHRASE", "The passphrase of a key or of a file of sessions, where there is no terminal to ask at."),
    ("REPRISE_STACKS", "Directories of plugins of TLS libraries, in the place of the usual ones."),
    ("XDG_DATA_HOME", "Where `reprise stacks install` puts plugins; $HOME/.local/share without it."),
];

const FILES: [(&str, &str); 1] =
    [("$XDG_DATA_HOME/reprise/VERSION/stacks", "Plugins of TLS libraries, as `reprise stacks install` builds them.")];

pub(super) fn run(arguments: ManArgs, _: &Interrupt) -> anyhow::Result<Ending> {
    let mut program = help::command(&[]).disable_help_subcommand(true);
    program.build();
    match &arguments.directory {
        None => print(&page(&program, &program)?)?,
        Some(directory) => {
            let written = std::fs::create_dir_all(directory).and_then(|()| write_all(&program, &program, directory));
            written.with_context(|| format!("cannot write manual pages to {}", directory.display()))?;
        }
    }
    Ok(Ending::Done)
}

/// The page of a command, and those of its subcommands.
fn write_all(program: &Command, command: &Command, directory: &Path) -> std::io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        write_all(program, subcommand, directory)?;
    }
    std::fs::write(directory.join(Man::new(command.clone()).get_filename()), page(program, command)?)
}

fn page(program: &Command, command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in ending::CODES {
        entry(&mut roff, &code.to_string(), meaning);
    }
    roff.control("SH", ["ENVIRONMENT"]);
    ENVIRONMENT.iter().for_each(|(name, meaning)| entry(&mut roff, name, meaning));
    roff.control("SH", ["FILES"]);
    FILES.iter().for_each(|(name, meaning)| entry(&mut roff, name, meaning));
    roff.control("SH", ["SEE ALSO"]);
    let filename = Man::new(command.clone()).get_filename();
    let commands = program.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).map(Command::get_name);
    let pages = std::iter::once("reprise".to_owned()).chain(commands.map(|name| format!("reprise-{name}")));
    let others = pages.filter(|page| filename.strip_suffix(".1") != Some(page)).map(|page| format!("{page}(1)"));
    roff.text([roman(others.collect::<Vec<_>>().join(", "))]);
    roff.to_writer(&mut page)?;
    Ok(page)
}

fn entry(roff: &mut Roff, name: &str, meaning: &str) {
    roff.control("TP", []);
    roff.text([bold(name)]);
    roff.text([roman(meaning)]);
}
