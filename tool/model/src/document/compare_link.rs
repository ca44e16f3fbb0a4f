//! A comparison replayed over links that are not there: round-trip time, bandwidth, loss and initial window, in virtual time.

use serde::{Deserialize, Serialize};

use super::{CompareCase, CompareSide};

/// Handshakes that were recorded over memory, replayed in virtual time over TCP.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareLinks {
    /// How often each handshake was replayed over each link that loses packets; once over others.
    pub trials: u64,
    /// What was recorded, one for each pair and handshake.
    pub recordings: Vec<CompareRecording>,
    /// One for each recording and link.
    pub rows: Vec<CompareLinkRow>,
    /// From which round-trip time on one handshake of a stack is ahead of another, over the first link's bandwidth and initial window, without loss.
    pub crossings: Vec<CompareCrossing>,
}

/// A link, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareLink {
    /// Round-trip time of a small packet, in nanoseconds.
    pub rtt_ns: u64,
    /// Bits per second, of IP packets; null where packets take no time to send.
    pub bandwidth: Option<u64>,
    /// The share of packets that are lost, each by itself.
    pub loss: f64,
    /// Segments that either side may send before anything is acknowledged (`initcwnd` of `ip route`; RFC 6928).
    pub initcwnd: u64,
}

/// The turns of one handshake, in the order in which they were taken over memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareRecording {
    /// The stack of the client.
    pub client: String,
    /// The stack of the server.
    pub server: String,
    /// The handshake; the client sends its request in each.
    pub case: CompareCase,
    /// Connections that the medians of its turns are made of.
    pub n: u64,
    /// The turns.
    pub turns: Vec<CompareTurn>,
}

/// One record that a side receives, or the making of its connection, and what it does then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareTurn {
    /// `client` or `server`.
    pub side: CompareSide,
    /// Bytes of its peer that it waits for, after those of its turns before.
    pub takes: u64,
    /// CPU time, the median of the connections.
    pub cpu_ns: u64,
    /// Bytes that it sends at its end.
    pub sends: u64,
    /// What it brings about.
    pub reaches: CompareReached,
}

named! {
    /// What a turn of a handshake brings about.
    #[derive(Default)]
    pub enum CompareReached {
        /// Nothing that is told apart.
        #[default]
        Nothing = "nothing",
        /// The side's handshake is complete.
        Ready = "ready",
        /// The server has the client's request.
        Request = "request",
    }
}

/// One handshake over one link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareLinkRow {
    /// The stack of the client.
    pub client: String,
    /// The stack of the server.
    pub server: String,
    /// The handshake.
    pub case: CompareCase,
    /// The link.
    pub link: CompareLink,
    /// From the client's SYN until its handshake is complete.
    pub ready: CompareLinkTime,
    /// From the client's SYN until the server has the client's request of 64 bytes.
    pub request: CompareLinkTime,
    /// Replays that had not ended after two minutes of virtual time; they are in no figure.
    pub unended: u64,
}

/// Virtual time. Without loss all are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareLinkTime {
    /// Mean, in nanoseconds.
    pub mean_ns: u64,
    /// Median.
    pub median_ns: u64,
    /// 95th percentile.
    pub p95_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
}

/// Where two handshakes of one pair take as long until the server has the request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareCrossing {
    /// The stack of the client.
    pub client: String,
    /// The stack of the server.
    pub server: String,
    /// The handshake that is ahead below that round-trip time.
    pub below: CompareCase,
    /// The handshake that is ahead from it on.
    pub above: CompareCase,
    /// The round-trip time, in nanoseconds.
    pub rtt_ns: u64,
}
