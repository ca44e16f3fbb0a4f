use std::io;
use std::path::PathBuf;
use std::time::Duration;

use reprise_lab::LabError;

/// Why a server could not be started or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The lab could not make what a server needs: a certificate, a socket to listen on.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A program that should have made something failed.
    #[error("{program} failed: {output}")]
    Program {
        /// The program's name.
        program: String,
        /// What it said.
        output: String,
    },
    /// A file of a server could not be written or read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A program could not be started at all.
    #[error("cannot start {program}: {source}")]
    Spawn {
        /// The program's name.
        program: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// A server ended before it accepted connections.
    #[error("{program} ended before it was ready ({status}): {log}")]
    Died {
        /// The program's name.
        program: String,
        /// How it ended.
        status: String,
        /// The last lines of its log.
        log: String,
    },
    /// A server did not accept connections in time.
    #[error("{program} was not ready within {deadline:?}: {log}")]
    NotReady {
        /// The program's name.
        program: String,
        /// How long it was given.
        deadline: Duration,
        /// The last lines of its log.
        log: String,
    },
    /// A server's log did not show the connections that were waited for.
    #[error("{program} accounted for {found} connections of {expected} within {deadline:?}")]
    Unaccounted {
        /// The program's name.
        program: String,
        /// How many connections the log shows.
        found: usize,
        /// How many were waited for.
        expected: usize,
        /// How long it was given.
        deadline: Duration,
    },
    /// A server's account of a connection could not be understood.
    #[error("cannot read {program}'s account: {line:?}")]
    Account {
        /// The program's name.
        program: String,
        /// What stood there.
        line: String,
    },
}
