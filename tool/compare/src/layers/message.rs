//! One level of one stack as a child process is told it, and what it answers: see [`Request`](crate::message::Request).

use std::net::SocketAddr;
use std::path::PathBuf;

use reprise_model::{Kind, Level, Version};
use reprise_stack::SessionMode;
use serde::{Deserialize, Serialize};

use super::material::Material;
use crate::stacks::StackRef;

/// The suites and groups that every client offers, whatever its own are: what is compared is not the choice.
pub(super) const SUITES_13: &[u16] = &[0x1301, 0x1302];
pub(super) const SUITES_12: &[u16] = &[0xc02b, 0xc02f, 0xc02c, 0xc030];
pub(super) const GROUPS: &[u16] = &[29, 23];

/// A level that was made ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LevelReady {
    pub(crate) cell: usize,
    /// The handshakes that were made for it.
    pub(crate) connections: Vec<Seen>,
    /// The status of the first response.
    pub(crate) status: Option<u16>,
}

/// What a new process takes, in nanoseconds of CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RandomBytes {
    /// To initialise the library.
    pub(crate) init_ns: u64,
    /// For its first random bytes after that.
    pub(crate) first_ns: u64,
    /// For the next.
    pub(crate) next_ns: u64,
}

/// A stack, and what it is to do again and again.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LevelJob {
    pub(crate) stack: StackRef,
    pub(crate) level: Level,
    pub(crate) version: Version,
    /// Whether and how sessions are offered.
    pub(crate) sessions: Option<ResumedBy>,
    pub(crate) material: Material,
    pub(crate) address: SocketAddr,
    pub(crate) server_name: String,
    /// The whole request.
    pub(crate) request: String,
    pub(crate) is_head: bool,
    pub(crate) timeout_ms: u64,
    /// The program that is started again and again.
    pub(crate) helper: Option<PathBuf>,
}

/// How to resume TLS 1.2 sessions; under TLS 1.3 there are tickets alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResumedBy {
    /// By session ID.
    Id,
    /// By ticket, or by session ID where the server issues no ticket.
    Ticket,
}

/// Requests that were made one after the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LevelBatch {
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: u64,
    /// The handshakes of the requests, in order.
    pub(crate) connections: Vec<Seen>,
    /// Those that were made besides.
    pub(crate) uncounted: Vec<Seen>,
}

/// One handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// The client's port.
    pub(crate) port: u16,
    pub(crate) kind: Kind,
    /// Whether the client offered a session, whatever became of it.
    pub(crate) offered: bool,
}

impl LevelJob {
    pub(crate) fn session_mode(&self) -> SessionMode {
        match self.sessions {
            None => SessionMode::Off,
            Some(ResumedBy::Id) => SessionMode::Id,
            Some(ResumedBy::Ticket) => SessionMode::Ticket,
        }
    }
}
