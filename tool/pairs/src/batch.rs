//! Connections that were made one after the other, summed up.

use reprise_model::Kind;
use serde::{Deserialize, Serialize};

/// Connections that were made one after the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Batch {
    /// CPU time of the client.
    pub client_ns: u64,
    /// And of the server.
    pub server_ns: u64,
    /// CPU time of the whole thread meanwhile, or of both sides' threads.
    pub thread_ns: u64,
    /// Of it, what was charged to a side.
    pub charged_ns: u64,
    /// CPU time of the server's key pairs that were made ahead, of all these connections.
    pub ahead_ns: u64,
    /// Over loopback, the median of each connection's time on a clock, until both are complete and until the client is.
    pub on_a_clock: Option<OnAClock>,
    /// How many of each kind were observed.
    pub kinds: Vec<(Kind, u32)>,
}

impl Batch {
    /// One more connection, of this kind.
    pub fn count(&mut self, kind: Kind) {
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => self.kinds.push((kind, 1)),
        }
    }

    /// The CPU time and the kinds of another's, which was made at the same time.
    pub(crate) fn add(&mut self, other: &Self) {
        self.client_ns += other.client_ns;
        self.server_ns += other.server_ns;
        self.thread_ns += other.thread_ns;
        self.charged_ns += other.charged_ns;
        self.ahead_ns += other.ahead_ns;
        for &(kind, count) in &other.kinds {
            (0..count).for_each(|_| self.count(kind));
        }
    }
}

/// Time on a clock of one connection, in nanoseconds, from when its TCP connection is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnAClock {
    /// Until both sides are complete, and the client has read the end of its stream.
    pub wall_ns: u64,
    /// Until the client may send application data.
    pub ready_ns: u64,
}
