//! One level of one stack, as a child process is told it.

use std::net::SocketAddr;
use std::path::PathBuf;

use reprise_model::{Level, Version};
use reprise_pairs::StackRef;
use reprise_stack::SessionMode;
use serde::{Deserialize, Serialize};

use crate::material::Material;

/// The suites and groups that every client offers, whatever its own are: what is compared is not the choice.
pub(crate) const SUITES_13: &[u16] = &[0x1301, 0x1302];
pub(crate) const SUITES_12: &[u16] = &[0xc02b, 0xc02f, 0xc02c, 0xc030];
pub(crate) const GROUPS: &[u16] = &[29, 23];

/// A stack, and what it is to do again and again.
#[derive(Clone, Serialize, Deserialize)]
pub struct LevelJob {
    /// The stack.
    pub stack: StackRef,
    /// The level.
    pub level: Level,
    /// The version.
    pub version: Version,
    /// Whether and how sessions are offered.
    pub sessions: Option<ResumedBy>,
    /// What contexts are made of.
    pub material: Material,
    /// The server.
    pub address: SocketAddr,
    /// The name that its certificate is for.
    pub server_name: String,
    /// The whole request.
    pub request: String,
    /// Whether the response has no body.
    pub is_head: bool,
    /// Maximum time to wait for the server.
    pub timeout_ms: u64,
    /// The program that is started again and again.
    pub helper: Option<PathBuf>,
}

/// How to resume TLS 1.2 sessions; under TLS 1.3 there are tickets alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResumedBy {
    /// By session ID.
    Id,
    /// By ticket, or by session ID where the server issues no ticket.
    Ticket,
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
