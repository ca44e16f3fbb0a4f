//! The command line: the flags of every command here, the commands in [`cmd`].

use std::ffi::OsString;

use anstream::ColorChoice;
use anyhow::bail;
use clap::{Arg, Args, Command};

use crate::cmd;
use crate::values::one_of;

/// Measure, explain and remove the cost of TLS connections.
#[derive(Args)]
#[command(version, about, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct EverywhereArgs {
    /// Suppress progress output on standard error
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Colour the output; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_parser = one_of(COLORS), value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub(crate) color: ColorChoice,
}

const COLORS: [(&str, ColorChoice); 3] =
    [("auto", ColorChoice::Auto), ("always", ColorChoice::Always), ("never", ColorChoice::Never)];

const EXAMPLES: &str = "\
Examples:
  reprise measure                          an embedded lab on loopback: nothing else needed
  reprise example.org                      your own server; 'measure' may be left out
  reprise measure --help                   every flag, with more examples";

/// The program with all its commands.
pub(crate) fn program() -> Command {
    // A negative number is a wrong value, and no unknown flag.
    let negative = |arg: Arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg };
    let commands = cmd::list().into_iter().map(|entry| entry.command.mut_args(negative));
    EverywhereArgs::augment_args(Command::new("reprise").subcommands(commands)).subcommand_required(true)
}

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
    let command = program();
    let is_command = command.get_subcommands().any(|known| known.get_name() == first);
    if is_command || ["help", "-h", "--help", "-V", "--version"].contains(&first) {
        return Ok(arguments);
    }
    if is_bare_word(first) {
        let names = command.get_subcommands().filter(|known| !known.is_hide_set()).map(Command::get_name);
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
        program().debug_assert();
    }
}
