//! `reprise`: measure, explain and remove the cost of TLS connections.

mod args;
mod cmd;
#[cfg(test)]
mod command_line_page;
mod connection_flags;
mod ending;
mod gate;
mod help;
mod key_log;
mod notice;
mod outputs;
#[cfg(test)]
mod printed_flags;
mod probe_flags;
mod progress;
mod provenance;
mod resumption_flags;
mod saved_result;
mod secrets;
mod server_process;
mod session_files;
mod values;
mod version;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::FromArgMatches;
use reprise_probe::{Interrupt, abandon_unfinished};

use crate::args::EverywhereArgs;
use crate::ending::Ending;
use crate::notice::notice;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if version::is_asked_for(&arguments) {
        return Ending::from(outputs::print(version::in_full().as_bytes()).map(|()| Ending::Done)).into_exit_code();
    }
    let arguments = match args::with_default_command(arguments.into_iter()) {
        Ok(arguments) => arguments,
        Err(usage) => return Ending::Usage(usage).into_exit_code(),
    };
    let command = help::command(&arguments);
    secrets::learn_flags(&command);
    let parsed = command.try_get_matches_from(arguments);
    let parsed = parsed.and_then(|matches| Ok((EverywhereArgs::from_arg_matches(&matches)?, matches)));
    let (everywhere, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(usage) => return ending::of_usage(usage),
    };
    everywhere.color.write_global();
    progress::be_quiet(everywhere.quiet);
    let interrupt = Interrupt::default();
    // Ctrl-C does not reach a child, which is in a process group of its own. The handler's thread would make glibc's malloc take locks, and
    // the handshakes that a child measures slower.
    if matches.subcommand_name() != Some(cmd::CHILD)
        && let Err(error) = stop_on_ctrl_c(interrupt.clone())
    {
        notice(format_args!("cannot handle Ctrl-C, it will discard the results: {error}"));
    }
    Ending::from(cmd::run(&matches, &interrupt)).into_exit_code()
}

/// Signals this soon after the first are the same one: timeout(1) signals the process and then its group, and a terminal's
/// Ctrl-C may be passed on by whoever started us.
const ONE_CTRL_C: Duration = Duration::from_millis(500);

/// The first Ctrl-C asks to stop and to print what was measured; the second does not ask.
fn stop_on_ctrl_c(interrupt: Interrupt) -> Result<(), ctrlc::Error> {
    let mut first: Option<Instant> = None;
    ctrlc::set_handler(move || match first {
        None => {
            first = Some(Instant::now());
            interrupt.raise();
        }
        Some(first) if first.elapsed() < ONE_CTRL_C => {}
        Some(_) => {
            abandon_unfinished();
            std::process::exit(ending::INTERRUPTED.into());
        }
    })
}
