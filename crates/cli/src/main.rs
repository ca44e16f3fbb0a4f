//! `reprise`: measure, explain and remove the cost of TLS connections.

mod args;
mod cmd;
mod connection_flags;
mod ending;
mod key_log;
mod notice;
mod opened_file;
mod outputs;
mod progress;
mod provenance;
mod rendered;
mod resumption_flags;
mod route_flags;
mod saved_result;
mod secrets;
mod session_files;
mod values;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use reprise_probe::Interrupt;

use crate::args::{Cli, Command};
use crate::ending::Ending;
use crate::notice::notice;

fn main() -> ExitCode {
    secrets::learn_flags(&Cli::command());
    let cli = match Cli::try_parse_from(args::with_default_command(std::env::args_os())) {
        Ok(cli) => cli,
        Err(usage) => return ending::of_usage(usage),
    };
    let interrupt = Interrupt::default();
    if let Err(error) = stop_on_ctrl_c(interrupt.clone()) {
        notice(format_args!("Ctrl-C will lose what was measured: {error}"));
    }
    let result = match cli.command {
        Command::Measure(arguments) => cmd::measure::run(*arguments, &interrupt),
        Command::Trace(arguments) => cmd::trace::run(*arguments, &interrupt),
        Command::Diagnose(arguments) => cmd::diagnose::run(*arguments, &interrupt),
        Command::Explain(arguments) => cmd::explain::run(*arguments),
        Command::Load(arguments) => cmd::load::run(*arguments, &interrupt),
        Command::Board(arguments) => cmd::board::run(*arguments, &interrupt),
        Command::Compare(arguments) => cmd::compare::run(*arguments, &interrupt),
        Command::Stacks(arguments) => cmd::compare::run_stacks(*arguments),
        Command::StackChild => cmd::compare::run_child(),
        Command::Report(arguments) => cmd::report::run(*arguments),
    };
    Ending::from(result).into_exit_code()
}

/// The first Ctrl-C asks to stop and to print what was measured; the second does not ask.
fn stop_on_ctrl_c(interrupt: Interrupt) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || {
        if interrupt.is_raised() {
            std::process::exit(ending::INTERRUPTED.into());
        }
        interrupt.raise();
    })
}
