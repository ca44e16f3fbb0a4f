//! The commands: for each a file or a folder here, and a line in the list.

use clap::{ArgMatches, Args, Command};
use reprise_probe::Interrupt;

use crate::ending::Ending;

type Run = dyn Fn(&ArgMatches, &Interrupt) -> anyhow::Result<Ending>;

/// A command: what clap knows of it, and what it does.
pub(crate) struct Entry {
    pub(crate) command: Command,
    run: Box<Run>,
}

/// The hidden command by which `compare`, `layers`, `speed`, `stacks` and `explain` run a TLS library in a child process.
pub(crate) const CHILD: &str = "stack-child";

/// Declares the module of each command and lists the commands.
macro_rules! commands {
    ($($name:tt is $module:ident on $system:ident,)+) => {
        $(commands! { mod $module on $system })+

        /// Every command, in the order of the help.
        pub(crate) fn list() -> Vec<Entry> {
            Vec::from([$(commands! { entry $name is $module on $system }),+])
        }
    };
    (mod $module:ident on all) => {
        mod $module;
    };
    (mod $module:ident on linux) => {
        #[cfg(target_os = "linux")]
        mod $module;
    };
    (entry $name:tt is $module:ident on all) => {
        entry($name, $module::run)
    };
    (entry $name:tt is $module:ident on linux) => {{
        #[cfg(target_os = "linux")]
        let entry = entry($name, $module::run);
        #[cfg(not(target_os = "linux"))]
        let entry = only_on_linux($name);
        entry
    }};
}

// In the order of the help.
commands! {
    "measure" is measure on all,
    "trace" is trace on all,
    "diagnose" is diagnose on all,
    "explain" is explain on all,
    "load" is load on linux,
    "board" is board on all,
    "compare" is compare on linux,
    "layers" is layers on linux,
    "speed" is speed on linux,
    "stacks" is stacks on linux,
    CHILD is stack_child on linux,
    "session-keys" is session_keys on all,
    "report" is report on all,
    "completions" is completions on all,
    "man" is man on all,
}

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
