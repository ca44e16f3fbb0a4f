//! Why a connection did not complete, as documents tell it; and what followed on one that did.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// One more request on a connection that was kept alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextRequest {
    /// Request sent to the first byte of the response.
    pub wait: Nanos,
    /// First byte of the response to the last.
    pub receive: Nanos,
}

/// A connection that did not complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// Where it failed.
    pub class: FailureClass,
    /// A short fixed name to count by, `connection_refused`, `unknown_issuer`.
    pub name: String,
    /// What went wrong and where, for people.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The client's port, where there was a connection.
    pub local_port: Option<u16>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

named! {
    /// Where a connection failed.
    pub enum FailureClass {
        /// Name to address.
        Resolve = "resolve",
        /// TCP.
        Connect = "connect",
        /// The proxy refused, or did not speak its protocol.
        Proxy = "proxy",
        /// What precedes TLS in the clear.
        Starttls = "starttls",
        /// The handshake.
        Tls = "tls",
        /// The server's certificate.
        Certificate = "certificate",
        /// The request or its response.
        Request = "request",
        /// Ctrl-C.
        Interrupted = "interrupted",
    }
}
