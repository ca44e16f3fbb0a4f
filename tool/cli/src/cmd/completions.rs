//! `reprise completions SHELL`: a script that completes commands, flags and values, those of causes and of conditions among them.

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use reprise_diagnosis::causes;
use reprise_probe::Interrupt;
use reprise_results::{ConditionSubject, figures};

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

/// What the conditions of a command are on.
const SUBJECTS: [(&str, ConditionSubject<'static>); 4] = [
    ("measure", ConditionSubject::Measurement),
    ("diagnose", ConditionSubject::Diagnosis),
    ("load", ConditionSubject::Load),
    ("compare", ConditionSubject::Comparison { stacks: &[], cases: &[] }),
];

pub(super) fn run(arguments: CompletionsArgs, _: &Interrupt) -> anyhow::Result<Ending> {
    let mut script = Vec::new();
    // Only here: the commands themselves say what is similar to an unknown one.
    let ids = PossibleValuesParser::new(causes().map(|cause| cause.slug));
    let mut command =
        help::command(&[]).mut_subcommand("explain", |explain| explain.mut_arg("id", |id| id.value_parser(ids.clone())));
    for (name, of) in SUBJECTS {
        // The program ends when the script is written.
        let figures = PossibleValuesParser::new(figures(of).into_iter().map(|figure| &*figure.leak()));
        command = command
            .mut_subcommand(name, |command| command.mut_arg("fail_if", |condition| condition.value_parser(figures.clone())));
    }
    clap_complete::generate(arguments.shell, &mut command, "reprise", &mut script);
    print(&script)?;
    Ok(Ending::Done)
}
