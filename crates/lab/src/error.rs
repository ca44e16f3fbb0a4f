use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why the lab could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A key or certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The operating system or the crypto library refused to make a key.
    #[error("cannot make a key of kind {0}")]
    Key(&'static str),
    /// A private key could not be encrypted.
    #[error("cannot encrypt the private key")]
    Encrypt,
    /// A certificate or key in PEM could not be read.
    #[error("cannot read PEM: {0}")]
    Pem(#[from] rustls_pki_types::pem::Error),
    /// A program that should have made something failed.
    #[error("{program} failed: {output}")]
    Program {
        /// The program's name.
        program: String,
        /// What it said.
        output: String,
    },
    /// rustls refused the configuration of an embedded server.
    #[error("cannot configure the embedded server: {0}")]
    Configure(#[from] rustls::Error),
    /// The certificate against which clients are verified is of no use to rustls.
    #[error("cannot verify clients: {0}")]
    ClientVerifier(#[from] rustls::client::VerifierBuilderError),
    /// No socket to listen on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address asked for.
        address: std::net::SocketAddr,
        /// What the operating system said.
        source: io::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a server thread: {0}")]
    Thread(io::Error),
    /// A file of the lab could not be written or read.
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
