//! Requests that were made, and the handshakes of them.

use reprise_model::Kind;
use serde::{Deserialize, Serialize};

/// Requests that were made one after the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LevelBatch {
    /// Time of all of them.
    pub wall_ns: u64,
    /// CPU time of all of them.
    pub cpu_ns: u64,
    /// The handshakes of the requests, in order.
    pub connections: Vec<Seen>,
    /// Those that were made besides.
    pub uncounted: Vec<Seen>,
}

/// One handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The client's port.
    pub port: u16,
    /// What was observed.
    pub kind: Kind,
    /// Whether the client offered a session, whatever became of it.
    pub offered: bool,
}
