//! The commands: for each a file or a folder here, and an entry in the list.

mod board;
#[cfg(target_os = "linux")]
mod compare;
mod completions;
mod diagnose;
mod explain;
#[cfg(target_os = "linux")]
mod layers;
#[cfg(target_os = "linux")]
mod load;
mod man;
mod measure;
mod report;
mod session_keys;
#[cfg(target_os = "linux")]
mod speed;
mod trace;

use clap::{ArgMatches, Args, Command};
use reprise_probe::Interrupt;

use crate::ending::Ending;

type Run = dyn Fn(&ArgMatches, &Interrupt) -> anyhow::Result<Ending>;

/// A command: what clap knows of it, and what it does.
pub(crate) struct Entry {
    pub(crate) command: Command,
    run: Box<Run>,
}

/// Every command, in the order of the help.
pub(crate) fn list() -> Vec<Entry> {
    Vec::from([
        entry("measure", measure::run),
        entry("trace", trace::run),
        entry("diagnose", diagnose::run),
        entry("explain", explain::run),
        #[cfg(target_os = "linux")]
        entry("load", load::run),
        #[cfg(not(target_os = "linux"))]
        only_on_linux("load"),
        entry("board", board::run),
        #[cfg(target_os = "linux")]
        entry("compare", compare::run),
        #[cfg(not(target_os = "linux"))]
        only_on_linux("compare"),
        #[cfg(target_os = "linux")]
        entry("layers", layers::run),
        #[cfg(not(target_os = "linux"))]
        only_on_linux("layers"),
        #[cfg(target_os = "linux")]
        entry("speed", speed::run),
        #[cfg(not(target_os = "linux"))]
        only_on_linux("speed"),
        #[cfg(target_os = "linux")]
        entry("stacks", compare::run_stacks),
        #[cfg(not(target_os = "linux"))]
        only_on_linux("stacks"),
        #[cfg(target_os = "linux")]
        entry(CHILD, compare::run_child),
        entry("session-keys", session_keys::run),
        entry("report", report::run),
        entry("completions", completions::run),
        entry("man", man::run),
    ])
}

/// The hidden command by which `compare`, `layers`, `speed` and `explain` run a stack in a child process.
pub(crate) const CHILD: &str = "stack-child";

/// Runs the command that `matches` names.
pub(crate) fn run(matches: &ArgMatches, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let Some((name, matches)) = matches.subcommand() else { anyhow::bail!("no command") };
    match list().iter().find(|entry| entry.command.get_name() == name) {
        Some(entry) => (entry.run)(matches, interrupt),
        None => anyhow::bail!("unknown command '{name}'"),
    }
}

/// A command whose flags are `A`; the first sentence that documents those says what it does.
fn entry<A: Args + 'static>(name: &'static str, run: fn(A, &Interrupt) -> anyhow::Result<Ending>) -> Entry {
    let command = A::augment_args(Command::new(name)).long_about(None);
    Entry { command, run: Box::new(move |matches, interrupt| run(A::from_arg_matches(matches)?, interrupt)) }
}

/// A command that cannot run here says so, whatever its flags.
#[cfg(not(target_os = "linux"))]
fn only_on_linux(name: &'static str) -> Entry {
    let flags = clap::Arg::new("flags").hide(true).num_args(0..).trailing_var_arg(true).allow_hyphen_values(true);
    let refuse = move |_: &ArgMatches, _: &Interrupt| {
        anyhow::bail!("{name} requires Linux, this is {}: measure, trace and report run here", std::env::consts::OS)
    };
    Entry { command: Command::new(name).about("Requires Linux").arg(flags), run: Box::new(refuse) }
}
