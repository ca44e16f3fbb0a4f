//! Why nothing can be explained.

use reprise_lab::LabError;
use reprise_model::{Kind, Version};

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// `connect` is no round trip of TLS.
    #[error("connections went through {0}: `connect` is no round trip of TLS, so the path is not known")]
    NotDirect(String),
    /// There is no handshake in it.
    #[error("the result has no handshake that was completed")]
    Nothing,
    /// Of a load nothing else can be said.
    #[error("a load has no critical path, and this one has no processor time of the server: run it with --server-pid")]
    NoProcessorTime,
    /// A load looks at certificates only where it is told to.
    #[error("the load did not look at the server's certificate, so its key is not known: run it with --verify")]
    UnknownKey,
    /// A load has no path that could change.
    #[error("a load has no critical path that could change: name a result of measure or trace")]
    NoPath,
    /// A change asks for what the protocol has not.
    #[error("{0} has no {1}")]
    NoSuch(Version, Kind),
    /// A key could not be made.
    #[error(transparent)]
    Lab(#[from] LabError),
}
