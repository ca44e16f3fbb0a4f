//! What `layers` is to measure.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use reprise_model::{Level, Version};
use reprise_pairs::FoundStack;

use crate::job::ResumedBy;
use crate::material::Material;

/// What is to be measured.
pub struct Layers<'a> {
    /// The server.
    pub peer: RemoteServer,
    /// The levels, with and without sessions.
    pub levels: &'a [Level],
    /// The versions; without any, the newest of each stack.
    pub versions: &'a [Version],
    /// How to resume TLS 1.2 sessions.
    pub resumed_by: ResumedBy,
    /// The clients.
    pub stacks: &'a [FoundStack],
    /// What contexts are made of.
    pub material: &'a Material,
    /// The kind of the client's key, for the page.
    pub client_key: Option<String>,
    /// Requests per row.
    pub count: u64,
    /// Maximum time to wait for the server.
    pub timeout: Duration,
    /// The program of the levels of processes.
    pub helper: Option<PathBuf>,
    /// The seed of the order and of the intervals.
    pub seed: u64,
}

/// A server, and what is asked of it.
pub struct RemoteServer {
    /// As the page names it.
    pub target: String,
    /// Where it is.
    pub address: SocketAddr,
    /// The name that its certificate is for.
    pub name: String,
    /// The method of the request.
    pub method: String,
    /// The request, whole.
    pub request: String,
    /// The delay that was added to each way.
    pub delay: Option<Duration>,
}
