//! What a child process is asked of primitives, and what it answers.

use reprise_model::Operation;
use serde::{Deserialize, Serialize};

use crate::stacks::StackRef;

/// An operation that is to be made ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PrimitiveJob {
    pub(crate) stack: StackRef,
    pub(crate) operation: Operation,
    /// IANA's number.
    pub(crate) algorithm: u16,
    pub(crate) length: usize,
    /// PKCS #8 in PEM, of who signs.
    pub(crate) key: Option<String>,
}

/// An operation that was made ready.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct PrimitiveReady {
    pub(crate) cell: usize,
    /// CPU time of one, once warm.
    pub(crate) once_ns: u64,
}

/// CPU time of connections of TCP over loopback, of both ends, without any data.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TcpCost {
    /// Of one, at the end that connects.
    pub(crate) client_ns: u64,
    /// Of one, at the end that accepts.
    pub(crate) server_ns: u64,
}
