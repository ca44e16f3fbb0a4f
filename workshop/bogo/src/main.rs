//! The engine as BoGo, the TLS test runner of BoringSSL, drives it: it is told by flags what to offer and what to expect,
//! connects to the runner, echoes inverted bytes, and says by its exit code and its errors what became of it.
//!
//! `cargo xtask bogo` builds and runs both; `config.json` says which tests are out of scope, and how our errors are named.

// What it finds goes to the runner, by standard output and error.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod client;
mod exchange;
mod expectations;
mod exporter;
mod failure;
mod flags;
mod settings;
mod verifier;
mod wire;

use std::process::ExitCode;

use crate::failure::Failure;
use crate::flags::Invocation;
use crate::wire::Clock;

/// The exit code by which a shim says that it does not implement what a flag asks for.
const UNIMPLEMENTED: u8 = 89;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "-is-handshaker-supported") {
        // A handshaker is a second process that takes a handshake over: a server's business.
        println!("No");
        return ExitCode::SUCCESS;
    }
    match Invocation::parse(&arguments).and_then(|invocation| connect(&invocation)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Unimplemented(what)) => {
            eprintln!("unimplemented: {what}");
            ExitCode::from(UNIMPLEMENTED)
        }
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Makes every connection that the runner waits for, each with the session that the one before it left.
fn connect(invocation: &Invocation) -> Result<(), Failure> {
    let mut session = None;
    let mut clock = Clock::default();
    for number in 0..=invocation.resume_count {
        let settings = if number == 0 { &invocation.initial } else { &invocation.resume };
        if number > 0 && session.is_none() {
            return Err(Failure::Expectation("a session to offer, but there is none".to_owned()));
        }
        session = exchange::exchange(&invocation.address, settings, &invocation.retry, session.take(), clock)?;
        clock.advance(settings.resumption_delay);
    }
    Ok(())
}
