//! `reprise completions SHELL`: a script that completes commands and flags.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::ending::Ending;
use crate::outputs::print;

/// Print a completion script for a shell.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell that is to read it
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  reprise completions bash > ~/.local/share/bash-completion/completions/reprise
  reprise completions zsh > ~/.zfunc/_reprise          with fpath+=~/.zfunc before compinit
  reprise completions fish > ~/.config/fish/completions/reprise.fish";

/// The script for `command`, which is all of `reprise`.
pub(crate) fn run(arguments: &CompletionsArgs, mut command: Command) -> anyhow::Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "reprise", &mut script);
    print(&script)?;
    Ok(Ending::Done)
}
