//! What one handshake of `reprise compare` costs between two stacks.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{BulkSender, CompareCase, Statistics, Traffic};
use crate::{Bytes, KindCounts};

/// What one handshake costs between two stacks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareRow {
    /// The client's stack.
    pub client: String,
    /// The server's.
    pub server: String,
    /// The handshake.
    #[serde(flatten)]
    pub case: CompareCase,
    /// How many samples.
    pub n: u64,
    /// A sample is the mean of so many connections, made one after the other; of so many transfers, where it is bulk data.
    pub connections: u64,
    /// The kinds that were observed.
    pub kinds: KindCounts,
    /// The client's CPU time.
    pub client_ns: Statistics,
    /// The server's CPU time.
    pub server_ns: Statistics,
    /// Both.
    pub both_ns: Statistics,
    /// Over loopback: from when the client's TCP connection is established until both handshakes are complete and the client has
    /// read the server's tickets and the end of its stream, which the server sends then. A sample is the median of its connections.
    #[serde(default)]
    pub wall_ns: Option<Statistics>,
    /// Over loopback: from when the client's TCP connection is established until the client may send application data.
    #[serde(default)]
    pub ready_ns: Option<Statistics>,
    /// Instructions of one connection, of each side's whole process, in user space; null where they were not counted.
    #[serde(default)]
    pub instructions: Option<CompareInstructions>,
    /// Bytes, of the last connection of the warm-up.
    pub bytes: Traffic,
    /// CPU time of the threads that made these connections; null in results of before.
    #[serde(default)]
    pub threads: Option<CompareThreads>,
    /// The samples, in the order in which they were taken. Absent in results of before.
    #[serde(default)]
    pub samples: CompareSamples,
    /// CPU time that making the server's key pair took ahead of each connection: it is in no other figure. Null where it was not made ahead.
    #[serde(default)]
    pub ahead_ns: Option<u64>,
    /// Bytes of the server's flight that its ServerHello begins, of the last connection of the warm-up; null over loopback, where flights are
    /// not told apart.
    #[serde(default)]
    pub server_flight: Option<Bytes>,
    /// Tickets that the server sent, in the last connection of the warm-up; null over loopback.
    #[serde(default)]
    pub tickets: Option<u64>,
}

impl CompareRow {
    /// Of bulk data: the rate at which the sender sends, and the one at which the receiver receives.
    pub fn rates(&self) -> Option<[Rate; 2]> {
        let bulk = self.case.bulk.as_ref()?;
        let rate = |statistics: &Statistics| {
            let of = |ns: u64| bulk.bytes as f64 * 1e3 / ns.max(1) as f64;
            // The slowest is the least.
            Rate { median: of(statistics.median_ns), ci95: statistics.ci95_ns.map(|[low, high]| [of(high), of(low)]) }
        };
        let [client, server] = [rate(&self.client_ns), rate(&self.server_ns)];
        Some(match bulk.sender {
            BulkSender::Client => [client, server],
            BulkSender::Server => [server, client],
        })
    }

    /// Bytes that a TCP sender may have under way before anything is acknowledged: ten segments of 1460 bytes (RFC 6928 §2).
    pub const INITIAL_WINDOW: u64 = 14_600;

    /// Round trips before the client has the server's flight, beyond the one that every handshake takes: one for a HelloRetryRequest, and
    /// one each time that a window of TCP is full, the initial one and then twice as much (RFC 5681 §3.1). Nothing sent before the flight has
    /// widened the window.
    pub fn further_round_trips(&self) -> Option<u64> {
        let mut rest = self.server_flight?.0;
        let (mut window, mut windows) = (Self::INITIAL_WINDOW, 0);
        while rest > window {
            rest -= window;
            window = window.saturating_mul(2);
            windows += 1;
        }
        Some(windows + u64::from(self.case.retried))
    }

    /// One figure; `None` where it was not measured.
    pub fn of(&self, side: CompareSide) -> Option<&Statistics> {
        match side {
            CompareSide::Client => Some(&self.client_ns),
            CompareSide::Server => Some(&self.server_ns),
            CompareSide::Both => Some(&self.both_ns),
            CompareSide::Wall => self.wall_ns.as_ref(),
            CompareSide::Ready => self.ready_ns.as_ref(),
        }
    }
}

named! {
    /// What of a handshake takes time: CPU time of one side or both, or time on a clock.
    pub enum CompareSide {
        /// The client.
        Client = "client",
        /// The server.
        Server = "server",
        /// Both, one after the other: what it costs where neither waits for the other.
        Both = "both",
        /// Over loopback, time on a clock until both handshakes are complete.
        Wall = "wall",
        /// Over loopback, time on a clock until the client may send application data.
        Ready = "ready",
    }
}

/// CPU time of the threads that made connections: what is not charged to a side is the harness, and over loopback the sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareThreads {
    /// All of it, without the readings of the clock.
    pub thread_ns: u64,
    /// Of it, what was charged to a client or a server.
    pub charged_ns: u64,
}

impl AddAssign for CompareThreads {
    fn add_assign(&mut self, other: Self) {
        self.thread_ns += other.thread_ns;
        self.charged_ns += other.charged_ns;
    }
}

impl CompareThreads {
    /// What was charged to neither side, in nanoseconds, and its share of all. `None` where there was nothing.
    pub fn harness(self) -> Option<(u64, f64)> {
        let rest = self.thread_ns.saturating_sub(self.charged_ns);
        (self.thread_ns > 0).then(|| (rest, rest as f64 / self.thread_ns as f64))
    }
}

/// Instructions of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareInstructions {
    /// The client's.
    pub client: u64,
    /// The server's.
    pub server: u64,
}

impl CompareInstructions {
    /// Those of one side, or of both; `None` of what is no work.
    pub fn of(self, side: CompareSide) -> Option<u64> {
        match side {
            CompareSide::Client => Some(self.client),
            CompareSide::Server => Some(self.server),
            CompareSide::Both => Some(self.client.saturating_add(self.server)),
            CompareSide::Wall | CompareSide::Ready => None,
        }
    }
}

/// The samples of a row, of each figure one list, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CompareSamples {
    /// The client's CPU time.
    pub client_ns: Vec<u64>,
    /// The server's CPU time.
    pub server_ns: Vec<u64>,
    /// As [`CompareRow::wall_ns`]; empty over memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wall_ns: Vec<u64>,
    /// As [`CompareRow::ready_ns`]; empty over memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ready_ns: Vec<u64>,
}

impl CompareSamples {
    /// Those of one figure.
    pub fn of(&self, side: CompareSide) -> Vec<u64> {
        match side {
            CompareSide::Client => self.client_ns.clone(),
            CompareSide::Server => self.server_ns.clone(),
            CompareSide::Both => {
                self.client_ns.iter().zip(&self.server_ns).map(|(client, server)| client + server).collect()
            }
            CompareSide::Wall => self.wall_ns.clone(),
            CompareSide::Ready => self.ready_ns.clone(),
        }
    }
}

/// Data by CPU time: 10^6 bytes in a second of one core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The median.
    pub median: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
}
