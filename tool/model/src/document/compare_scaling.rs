//! The same handshakes of `reprise compare` in several threads at once, over one context of each side.

use serde::{Deserialize, Serialize};

use super::{CompareCase, CompareThreads, Statistics};
use crate::KindCounts;

/// Handshakes in several threads at once.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareScaling {
    /// Processors that the process may use: with more threads than that, rows show how threads share processors, not how a library scales.
    pub processors: u64,
    /// One for each pair, handshake and number of threads.
    pub rows: Vec<CompareScalingRow>,
}

/// A handshake of a pair of stacks in so many threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareScalingRow {
    /// The client's stack.
    pub client: String,
    /// The server's.
    pub server: String,
    /// The handshake.
    #[serde(flatten)]
    pub case: CompareCase,
    /// Threads, each of which makes connections between a client and a server of its own; the contexts are those of all.
    pub threads: u64,
    /// How many samples.
    pub n: u64,
    /// Connections that each thread makes in a sample, one after the other.
    pub connections: u64,
    /// The kinds that were observed.
    pub kinds: KindCounts,
    /// The client's CPU time of one connection.
    pub client_ns: Statistics,
    /// The server's.
    pub server_ns: Statistics,
    /// Time on a clock from when the first thread begins until the last is done, divided by the connections of all threads; the harness, which
    /// moves records and reads them, is in it.
    pub wall_ns: Statistics,
    /// Connections a second of all threads together: by the median of `wall_ns`.
    pub rate: f64,
    /// How many times as many connections a second as in one thread; null where one thread was not measured.
    pub scaling: Option<CompareTimes>,
    /// CPU time of the threads that made these connections.
    pub cpu: CompareThreads,
}

/// How many times as much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareTimes {
    /// The ratio of the medians.
    pub median: f64,
    /// Its interval; null under six samples.
    pub ci95: Option<[f64; 2]>,
}
