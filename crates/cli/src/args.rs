//! The command line: commands here, the flags of each beside it.

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

use crate::cmd::board::BoardArgs;
use crate::cmd::compare::{CompareArgs, StacksArgs};
use crate::cmd::diagnose::DiagnoseArgs;
use crate::cmd::explain::ExplainArgs;
use crate::cmd::load::LoadArgs;
use crate::cmd::measure::MeasureArgs;
use crate::cmd::report::ReportArgs;
use crate::cmd::trace::TraceArgs;

/// Measure, explain and remove the cost of TLS connections.
#[derive(Parser)]
#[command(name = "reprise", version, about, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// What does a connection cost, new and resumed, phase by phase?
    Measure(Box<MeasureArgs>),
    /// What does a resumed handshake skip, message by message?
    Trace(Box<TraceArgs>),
    /// Does it resume everywhere; if not, why, and how to fix it?
    Diagnose(Box<DiagnoseArgs>),
    /// What is a cause, how does it show, and what fixes it?
    Explain(Box<ExplainArgs>),
    /// How many handshakes a second does it hold, and who is the bottleneck?
    Load(Box<LoadArgs>),
    /// What does TLS cost on a microcontroller, and what does resuming save there?
    Board(Box<BoardArgs>),
    /// What does a handshake cost in each TLS library, side by side?
    Compare(Box<CompareArgs>),
    /// Which TLS libraries are there to be compared, and do they keep the contract?
    Stacks(Box<StacksArgs>),
    /// What the child processes of compare and stacks run
    #[command(hide = true)]
    StackChild,
    /// Show a saved result again, in any format
    Report(Box<ReportArgs>),
}

const EXAMPLES: &str = "\
Examples:
  reprise measure                          an embedded lab on loopback: nothing else needed
  reprise example.org                      your own server; 'measure' may be left out
  reprise measure --help                   every flag, with more examples";

/// A target alone means `measure`: `reprise example.org` is `reprise measure example.org`.
pub(crate) fn with_default_command(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let names_command = arguments.get(1).and_then(|first| first.to_str()).is_none_or(|first| {
        let command = Cli::command();
        let known = command.get_subcommands().any(|known| known.get_name() == first);
        known || ["help", "-h", "--help", "-V", "--version"].contains(&first)
    });
    if !names_command {
        arguments.insert(1, "measure".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(arguments: &[&str]) -> Vec<String> {
        let completed = with_default_command(arguments.iter().map(OsString::from));
        completed.into_iter().map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn a_target_alone_means_measure() {
        assert_eq!(completed(&["reprise", "example.org"]), ["reprise", "measure", "example.org"]);
        assert_eq!(completed(&["reprise", "-n", "3", "[::1]"]), ["reprise", "measure", "-n", "3", "[::1]"]);
    }

    #[test]
    fn commands_and_help_stay_as_they_are() {
        for arguments in [&["reprise"][..], &["reprise", "measure"], &["reprise", "--help"], &["reprise", "-V"]] {
            assert_eq!(completed(arguments), arguments);
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
