//! The command line: commands here, the flags of each beside it.

use std::ffi::OsString;

use anyhow::bail;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::cmd::board::BoardArgs;
use crate::cmd::compare::{CompareArgs, StacksArgs};
use crate::cmd::completions::CompletionsArgs;
use crate::cmd::diagnose::DiagnoseArgs;
use crate::cmd::explain::ExplainArgs;
use crate::cmd::layers::LayersArgs;
use crate::cmd::load::LoadArgs;
use crate::cmd::man::ManArgs;
use crate::cmd::measure::MeasureArgs;
use crate::cmd::report::ReportArgs;
use crate::cmd::trace::TraceArgs;

/// Measure, explain and remove the cost of TLS connections.
#[derive(Parser)]
#[command(name = "reprise", version, about, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) everywhere: EverywhereArgs,
}

/// The flags of every command.
#[derive(Args, Clone, Debug)]
pub(crate) struct EverywhereArgs {
    /// Suppress progress output on standard error
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Colour the output; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto, help_heading = "Output")]
    pub(crate) color: Color,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Measure what a connection costs, new and resumed, phase by phase
    Measure(Box<MeasureArgs>),
    /// Show, message by message, what a resumed handshake skips
    Trace(Box<TraceArgs>),
    /// Find out why sessions are not resumed, and how to fix it
    Diagnose(Box<DiagnoseArgs>),
    /// Explain a cause: what happens, how it shows, how to fix it
    Explain(Box<ExplainArgs>),
    /// Load-test handshakes: rate, latency, bottleneck
    Load(Box<LoadArgs>),
    /// Measure TLS on emulated microcontrollers
    Board(Box<BoardArgs>),
    /// Compare TLS libraries side by side
    Compare(Box<CompareArgs>),
    /// Measure the cost of starting again: process, library, context, connection, session
    Layers(Box<LayersArgs>),
    /// List the TLS libraries to compare, and check plugins
    Stacks(Box<StacksArgs>),
    /// What the child processes of compare and stacks run
    #[command(hide = true)]
    StackChild,
    /// Show a saved result again, in any format
    Report(Box<ReportArgs>),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(ManArgs),
}

const EXAMPLES: &str = "\
Examples:
  reprise measure                          an embedded lab on loopback: nothing else needed
  reprise example.org                      your own server; 'measure' may be left out
  reprise measure --help                   every flag, with more examples";

/// A target alone means `measure`: `reprise example.org` is `reprise measure example.org`.
///
/// # Errors
/// If it is a word that no command has and that does not look like a host: a mistyped command must not be looked up in the DNS.
pub(crate) fn with_default_command(arguments: impl Iterator<Item = OsString>) -> anyhow::Result<Vec<OsString>> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let place = arguments.len().min(1 + leading_flags(arguments.get(1..).unwrap_or_default()));
    let Some(first) = arguments.get(place).and_then(|first| first.to_str()) else {
        // Not even a name: clap complains of it as a target, and of nothing where there is nothing.
        if place < arguments.len() {
            arguments.insert(place, "measure".into());
        }
        return Ok(arguments);
    };
    let command = Cli::command();
    let is_command = command.get_subcommands().any(|known| known.get_name() == first);
    if is_command || ["help", "-h", "--help", "-V", "--version"].contains(&first) {
        return Ok(arguments);
    }
    if is_bare_word(first) {
        let names = command.get_subcommands().filter(|known| !known.is_hide_set()).map(clap::Command::get_name);
        let similar =
            names.map(|name| (strsim::jaro_winkler(first, name), name)).filter(|(similarity, _)| *similarity > 0.8);
        let meant = similar.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, name)| name);
        let meant = meant.map(|name| format!("; did you mean 'reprise {name}'?")).unwrap_or_default();
        bail!("unrecognized command '{first}'{meant}\n  If it is a host: reprise measure {first}");
    }
    arguments.insert(place, "measure".into());
    Ok(arguments)
}

/// How many arguments at the front are flags of every command, with their values.
fn leading_flags(arguments: &[OsString]) -> usize {
    let mut count = 0;
    loop {
        match arguments.get(count).and_then(|argument| argument.to_str()) {
            Some("-q" | "--quiet") => count += 1,
            Some("--color") => count += 2,
            Some(flag) if flag.starts_with("--color=") => count += 1,
            _ => return count,
        }
    }
}

/// Whether a word has nothing of a host, a port or a path about it.
fn is_bare_word(word: &str) -> bool {
    !word.starts_with('-') && !word.contains(['.', ':', '/', '[', '@']) && !word.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(arguments: &[&str]) -> Vec<String> {
        let completed = with_default_command(arguments.iter().map(OsString::from)).unwrap();
        completed.into_iter().map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn a_target_alone_means_measure() {
        assert_eq!(completed(&["reprise", "example.org"]), ["reprise", "measure", "example.org"]);
        assert_eq!(completed(&["reprise", "-n", "3", "[::1]"]), ["reprise", "measure", "-n", "3", "[::1]"]);
    }

    #[test]
    fn flags_of_every_command_may_come_first() {
        assert_eq!(completed(&["reprise", "-q", "example.org"]), ["reprise", "-q", "measure", "example.org"]);
        assert_eq!(completed(&["reprise", "--color", "never", "trace"]), ["reprise", "--color", "never", "trace"]);
        assert_eq!(completed(&["reprise", "--color"]), ["reprise", "--color"]);
    }

    #[test]
    fn a_mistyped_command_is_no_host() {
        let refused = |word: &str| with_default_command(["reprise", word].into_iter().map(OsString::from));
        let said = refused("mesure").unwrap_err().to_string();
        assert!(said.contains("did you mean 'reprise measure'?"), "{said}");
        let said = refused("intranet").unwrap_err().to_string();
        assert!(!said.contains("did you mean") && said.contains("reprise measure intranet"), "{said}");
        for host in ["localhost", "localhost:8443", "intranet:443", "example.org", "::1", "[::1]"] {
            assert!(refused(host).is_ok(), "{host}");
        }
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
