//! `reprise completions SHELL`: a script that completes commands and flags.

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use reprise_diagnosis::causes;
use reprise_probe::Interrupt;

use crate::ending::Ending;
use crate::help;
use crate::outputs::print;

/// Print a completion script for a shell.
#[derive(Args, Clone)]
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

pub(super) fn run(arguments: CompletionsArgs, _: &Interrupt) -> anyhow::Result<Ending> {
    let mut script = Vec::new();
    // Only here: `explain` itself says what is similar to an unknown one.
    let ids = PossibleValuesParser::new(causes().map(|cause| cause.slug));
    let mut command =
        help::command(&[]).mut_subcommand("explain", |explain| explain.mut_arg("id", |id| id.value_parser(ids.clone())));
    clap_complete::generate(arguments.shell, &mut command, "reprise", &mut script);
    print(&script)?;
    Ok(Ending::Done)
}
