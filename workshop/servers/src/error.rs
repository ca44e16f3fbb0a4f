use std::time::Duration;

use reprise_lab::LabError;

/// Why a server could not be started or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// What a server needs could not be made or read, a file or a socket to listen on, or a program not be started.
    #[error(transparent)]
    Lab(#[from] LabError),
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
