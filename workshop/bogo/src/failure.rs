//! What ends a connection, as the runner reads it.

use std::io;

use thiserror::Error;

/// Why the shim gave up.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// A flag asks for what the engine does not do, or not as a client of TLS 1.2 or 1.3.
    #[error("unimplemented: {0}")]
    Unimplemented(String),
    /// The engine refused what the runner did. `config.json` maps the runner's names of errors to this form.
    #[error("{0:?}: {0}")]
    Engine(#[from] reprise_engine::Error),
    /// The connection came to something else than a flag told to expect.
    #[error("expected {0}")]
    Expectation(String),
    /// The socket failed.
    #[error("socket: {0}")]
    Socket(#[from] io::Error),
    /// The runner's flags contradict each other, or name a file that is of no use.
    #[error("flags: {0}")]
    Flags(String),
}
