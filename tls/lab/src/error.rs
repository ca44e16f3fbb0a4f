use std::io;
use std::path::PathBuf;

/// Why the lab could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A key or certificate could not be made.
    #[error("cannot create a certificate: {0}")]
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
}
