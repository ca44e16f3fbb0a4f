//! How the program ends: one place for exit codes and last words.

use std::io;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};

use reprise_model::{Failure, FailureClass};

use crate::notice::notice;
use crate::secrets;

/// Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;
pub(crate) const BAD_ANSWER: u8 = 1;
pub(crate) const USAGE: u8 = 2;
pub(crate) const UNREACHABLE: u8 = 3;

/// What each code means, as the guide says it.
pub(crate) const CODES: [(u8, &str); 5] = [
    (0, "The command completed."),
    (
        BAD_ANSWER,
        "The command completed, and the result is bad: a kind in `--kinds` was not observed in every sample, a certain fault was found (in \
         `diagnose` also a likely one), or a `--fail-if` was met.",
    ),
    (
        USAGE,
        "Usage error: a flag, a file, a key, a passphrase or an output path is wrong. Found before anything is measured.",
    ),
    (
        UNREACHABLE,
        "The name, the connection, TLS or the certificate failed, or the target stopped responding; of several targets, all of them. \
         Results so far are kept.",
    ),
    (INTERRUPTED, "Ctrl-C. Results so far are kept."),
];

/// What came of a command.
pub(crate) enum Ending {
    /// Done.
    Done,
    /// Done, and the answer is bad.
    BadAnswer(String),
    /// The arguments, a file or an output is of no use. Found before measuring, but for a disk that fills up.
    Usage(anyhow::Error),
    /// Ctrl-C.
    Interrupted,
    /// The target cannot be measured, or not any more.
    Failed(Failure),
}

impl From<anyhow::Result<Ending>> for Ending {
    fn from(result: anyhow::Result<Ending>) -> Self {
        match result {
            Ok(ending) => ending,
            // Who closes the pipe has read enough.
            Err(error) if is_closed_pipe(&error) => Self::Done,
            Err(error) => Self::Usage(error),
        }
    }
}

impl Ending {
    pub(crate) fn into_exit_code(self) -> ExitCode {
        let (code, words) = match self {
            Self::Done => (0, None),
            Self::BadAnswer(why) => (BAD_ANSWER, Some(why)),
            Self::Usage(error) => (USAGE, Some(with_its_causes(&error))),
            Self::Interrupted => (INTERRUPTED, None),
            Self::Failed(failure) if failure.class == FailureClass::Interrupted => (INTERRUPTED, None),
            Self::Failed(failure) => (UNREACHABLE, Some(in_words(&failure))),
        };
        if let Some(words) = words {
            notice(words);
        }
        ExitCode::from(code)
    }
}

/// Prints clap's message; help and version are no errors.
pub(crate) fn of_usage(mut error: clap::Error) -> ExitCode {
    hide_secrets(&mut error);
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { USAGE } else { 0 })
}

/// The message repeats the value that it complains of, and logs keep it: a key may be nearly right, a target hold a password.
fn hide_secrets(error: &mut clap::Error) {
    let string = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (Some(flag), Some(value)) = (string(ContextKind::InvalidArg), string(ContextKind::InvalidValue)) else { return };
    let value = secrets::published(&flag, value);
    error.insert(ContextKind::InvalidValue, ContextValue::String(value));
}

fn in_words(failure: &Failure) -> String {
    match &failure.hint {
        Some(hint) => format!("{}\n  {hint}", failure.message),
        None => failure.message.clone(),
    }
}

/// The error and why, each thing once: many an error ends in its cause's own words.
pub(crate) fn with_its_causes(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        match words.as_str() {
            "" => words = cause,
            said if said.contains(&cause) => {}
            said => words = format!("{said}: {cause}"),
        }
    }
    words
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_system_error_is_told_once() {
        let denied = || io::Error::from_raw_os_error(13);
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        let told = with_its_causes(&reprise_lab::LabError::Listen { address, source: denied() }.into());
        assert_eq!(told, format!("cannot listen on 127.0.0.1:1: {}", denied()));
        let context = Err::<(), _>(denied()).context("x.json").context("cannot write").unwrap_err();
        assert_eq!(with_its_causes(&context), format!("cannot write: x.json: {}", denied()));
    }
}
