//! What `-h` and `--help` print: examples first. `-h` fits a screen and shows the flags that are used most; `--help` shows all.

use std::ffi::{OsStr, OsString};

use clap::Command;
use clap::builder::Resettable;

use crate::args;
use crate::outputs::columns;

/// Help is not set wider than this, however wide the terminal.
const MAX_WIDTH: usize = 100;

/// How many examples `-h` shows of a command with many flags.
const EXAMPLES: usize = 6;

/// The flags that `-h` shows of the commands that have too many for one screen, by their names in the code.
const COMMON: &[(&str, &str)] = &[
    ("measure", "tls kinds count insecure ca sni starttls baseline fail_if every json html quiet"),
    ("trace", "tls kind verbose pcap insecure ca cert sni starttls json html quiet"),
    ("diagnose", "targets_from tls listen insecure ca sni starttls experiments json html sarif quiet"),
    ("load", "connections rate duration count mix requests tls threads server_pid json html quiet"),
    ("compare", "stacks keys tls samples quick instructions fail_if json html quiet"),
    ("layers", "levels stacks tls count delay ca json html quiet"),
];

/// The command line with its help. `-h` among the arguments asks for the short one.
pub(crate) fn command(arguments: &[OsString]) -> Command {
    let is_short = arguments.iter().any(|argument| argument == OsStr::new("-h"));
    let sized = |command: Command| match columns() {
        Some(columns) => command.term_width(columns.min(MAX_WIDTH)),
        None => command.max_term_width(MAX_WIDTH),
    };
    let whole = sized(args::program()).help_template(template(""));
    if !is_short {
        return whole.mut_subcommands(|command| sized(command.help_template(template(""))));
    }
    whole
        .mut_args(|arg| {
            let is_color = arg.get_id() == "color";
            arg.help_heading(Resettable::Reset).hide_short_help(is_color)
        })
        .mut_subcommands(|command| sized(short(command)))
}

fn template(last_words: &str) -> String {
    format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}{{after-help}}\n\n{{all-args}}{last_words}")
}

/// One list of flags, without those that few need, each in a sentence.
fn short(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let Some((_, common)) = COMMON.iter().find(|(known, _)| *known == name) else {
        return command.help_template(template(""));
    };
    let template = template(&format!("\n\nAll flags and examples: reprise {name} --help"));
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let few: Vec<&str> = examples.lines().take(1 + EXAMPLES).collect();
    command.after_help(few.join("\n")).help_template(template).next_line_help(false).mut_args(|arg| {
        let words = arg.get_help().map(|words| first_sentence(&words.to_string()));
        let arg = match words {
            Some(words) => arg.help(words),
            None => arg,
        };
        if arg.is_positional() {
            return arg;
        }
        let is_common = common.split(' ').any(|name| name == arg.get_id().as_str());
        let takes_values = arg.get_action().takes_values();
        let arg = arg.help_heading(Resettable::Reset).hide_short_help(!is_common);
        if takes_values { arg.hide_possible_values(true).hide_default_value(true) } else { arg }
    })
}

/// Also without what a comma adds to it, but for a list.
fn first_sentence(words: &str) -> String {
    let end = [". ", "; ", ", "].iter().filter_map(|end| words.find(end)).min().unwrap_or(words.len());
    let list = words.find(':').is_some_and(|colon| colon < end);
    let end = if list { [". ", "; "].iter().filter_map(|end| words.find(end)).min().unwrap_or(words.len()) } else { end };
    words.get(..end).unwrap_or(words).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(command: &str, flag: &str) -> String {
        let arguments: Vec<OsString> = ["reprise", command, flag].into_iter().map(OsString::from).collect();
        let error = super::command(&arguments).term_width(80).try_get_matches_from(&arguments).unwrap_err();
        error.to_string()
    }

    #[test]
    fn short_help_fits_a_screen_with_examples_first() {
        for command in args::program().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            let help = shown(name, "-h");
            assert!(help.lines().count() <= 50, "{name}: {} lines\n{help}", help.lines().count());
            if let Some(examples) = help.find("Examples:") {
                assert!(help.find("Options:").is_none_or(|options| examples < options), "{help}");
            }
        }
    }

    #[test]
    fn every_flag_that_is_called_common_exists() {
        let command = args::program();
        for (name, flags) in COMMON {
            let command = command.find_subcommand(name).unwrap();
            for flag in flags.split(' ') {
                let is_known = command.get_arguments().any(|arg| arg.get_id() == flag) || ["quiet", "color"].contains(&flag);
                assert!(is_known, "{name} has no {flag}");
            }
        }
    }

    #[test]
    fn long_help_leaves_no_flag_out() {
        for command in args::program().get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = shown(command.get_name(), "--help");
            for flag in command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(clap::Arg::get_long) {
                assert!(help.contains(&format!("--{flag}")), "{}: {flag}", command.get_name());
            }
        }
    }
}
