//! One measured connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Asked, Bytes, Event, Nanos, Outcome, Phases};

/// One connection that was asked for, and what came of it.
pub type Attempt = Result<Sample, Failure>;

/// A connection that completed. It carries its own evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The client's port, by which a server's own account is joined to this one.
    pub local_port: u16,
    /// What the connection was made for.
    pub asked: Asked,
    /// What was observed.
    pub outcome: Outcome,
    /// How long each phase took.
    pub phases: Phases,
    /// Bytes written to the socket over the whole connection.
    pub sent: Bytes,
    /// Bytes read from the socket over the whole connection.
    pub received: Bytes,
    /// Round trips until application data could first be sent, those of a proxy and of STARTTLS included.
    pub round_trips: u64,
    /// The most bytes of early data that a ticket of this connection allows the next one; `None` where none does.
    pub max_early_data: Option<u32>,
    /// The status of the response, where the service is HTTP.
    pub http_status: Option<u16>,
    /// The same request once more on the same connection, where it was kept alive.
    pub next_request: Option<NextRequest>,
    /// Every message in and out.
    pub events: Vec<Event>,
}

/// One more request on a connection that was kept alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextRequest {
    /// Request sent to the first byte of the response.
    pub wait: Nanos,
    /// First byte of the response to the last.
    pub receive: Nanos,
}

/// A connection that did not complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// Where a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FailureClass {
    /// Name to address.
    Resolve,
    /// TCP.
    Connect,
    /// The proxy refused, or did not speak its protocol.
    Proxy,
    /// What precedes TLS in the clear.
    Starttls,
    /// The handshake.
    Tls,
    /// The server's certificate.
    Certificate,
    /// The request or its response.
    Request,
    /// Ctrl-C.
    Interrupted,
}
