//! `reprise.compare/1`: what a handshake costs each side, in each TLS library, over memory or over loopback.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{CompareBaseline, CompareLinks, ConditionRecord, Provenance, Statistics, Traffic};
use crate::{Bytes, KeyPairs, Kind, KindCounts, PskMode, ServerChain, Version};

/// Everything that one run of `reprise compare` measured. Times of a side are CPU time, from the making of its connection to its
/// end, without any waiting; `wall_ns` and `ready_ns` are time on a clock, and only there over loopback.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareDocument {
    /// `reprise.compare/1`.
    pub schema: String,
    /// What was compared: `resumption`, `full`, `mutual`, `psk`, `post-quantum`, `pregenerate`, `throughput`, `memory`, `stacks`.
    pub scenario: String,
    /// What the connections were made over.
    #[serde(default)]
    pub over: CompareOver,
    /// What was to be measured: by it an interrupted run is resumed. Absent in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<ComparePlan>,
    /// How often this run was resumed after it was interrupted.
    #[serde(default)]
    pub resumed: u64,
    /// The cores that the client's and the server's process were held to; null over memory, and where there is only one.
    #[serde(default)]
    pub cores: Option<[u64; 2]>,
    /// How time was taken.
    pub clock: CompareClock,
    /// The seed of the order.
    pub seed: u64,
    /// What the figures answer to the scenario's question, in sentences. Absent in results of before.
    #[serde(default)]
    pub conclusion: Vec<String>,
    /// The stacks, in the order of the tables.
    pub stacks: Vec<ComparedStack>,
    /// One for each pair and handshake that could be measured.
    pub rows: Vec<CompareRow>,
    /// What was weighed in place of times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<CompareMemory>,
    /// How two handshakes of one pair compare.
    pub ratios: Vec<CompareRatio>,
    /// The handshakes over links, in virtual time; null where none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<CompareLinks>,
    /// What could not be measured, and why.
    pub skipped: Vec<CompareSkipped>,
    /// What works with what.
    pub matrix: Vec<CompareMatrixCell>,
    /// The published claims about such handshakes, held against these figures.
    pub claims: Vec<CompareClaim>,
    /// How instructions were counted; null where they were not.
    #[serde(default)]
    pub counting: Option<CompareCounting>,
    /// Against an earlier result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<CompareBaseline>>,
    /// What came of each `--fail-if`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionRecord>,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
    /// Where it comes from.
    pub provenance: Provenance,
}

named! {
    /// What connections are made over.
    #[derive(Default)]
    pub enum CompareOver {
        /// Memory: both sides in one thread, one after the other.
        #[default]
        Memory = "memory",
        /// TCP on 127.0.0.1: each side in a process of its own, at the same time.
        Loopback = "loopback",
    }
}

/// What was to be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparePlan {
    /// Samples of each row.
    pub samples: u64,
    /// What one sample was to take, in nanoseconds.
    pub sample_ns: u64,
    /// Whether each client was measured with each server.
    pub crossed: bool,
    /// Whether instructions were to be counted.
    pub instructions: bool,
    /// The handshakes.
    pub cases: Vec<CompareCase>,
}

/// How instructions were counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareCounting {
    /// The tool and its version. It may lack instructions of this CPU, and libraries choose other code then.
    pub tool: String,
    /// The difference of two runs by so many connections was divided by them.
    pub connections: u64,
}

/// How time was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareClock {
    /// What one interval of the thread's CPU clock costs by itself, which was taken off each turn; the largest of all children.
    pub reading_ns: u64,
    /// Of all rows.
    #[serde(flatten)]
    pub threads: CompareThreads,
}

/// A stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedStack {
    /// Its name in the tables.
    pub name: String,
    /// The library's own name.
    pub library: String,
    /// Its version.
    pub version: String,
    /// How it was built.
    pub flags: String,
    /// Algorithms for which the plugin's file has assembler, CPU instructions or code for one curve, by the functions in it: `AES`,
    /// `SHA-256`, `P-256`, `P-384`, `X25519`, `RSA`, `ML-KEM`, `ML-DSA`. Absent where none is there, or it cannot be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub optimised: Vec<String>,
    /// What it can do.
    pub abilities: Vec<String>,
    /// The plugin's file; null where it is built in.
    pub file: Option<String>,
    /// SHA-256 of that file.
    pub sha256: Option<String>,
}

/// A handshake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareCase {
    /// The version.
    pub tls: Version,
    /// Full, by an external PSK, or how it is resumed.
    pub kind: Kind,
    /// The key of the certificates; `none` where an external PSK is in their place.
    pub key: String,
    /// The group, IANA's name. Where a resumed handshake has none, that of its session; `none` where a PSK of TLS 1.2 is used without one.
    pub group: String,
    /// The suite, IANA's name.
    pub cipher: String,
    /// Whether the client is authenticated too.
    pub mutual: bool,
    /// How a PSK of TLS 1.3, from a ticket or external, is used; null in other handshakes.
    #[serde(default)]
    pub psk_mode: Option<PskMode>,
    /// Bytes that the client sends in the span that is measured: as early data, or once its handshake is complete. 0: none.
    #[serde(default)]
    pub request: u64,
    /// The data of a transfer, which is then what is measured, in place of the handshake; null in handshakes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bulk: Option<CompareBulk>,
    /// Where the server's ephemeral key pair comes from.
    #[serde(default)]
    pub key_pairs: KeyPairs,
    /// The server's certificates, and what the client knows of them before.
    #[serde(default)]
    pub chain: ServerChain,
    /// Whether the client's key share is of a group that the server has not, and a HelloRetryRequest makes it send another.
    #[serde(default)]
    pub retried: bool,
    /// The most bytes of data in a record of either side, which the client asks for by max_fragment_length (RFC 6066) or record_size_limit
    /// (RFC 8449); absent where it asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_fragment: Option<u64>,
    /// Whether idle connections give back what the library has a mode or a call to give back.
    #[serde(default)]
    pub releases_buffers: bool,
}

/// Application data that one side sends to the other. Both sides' CPU time, the bytes and the number of connections of such a row are those
/// of transfers, all over one connection, whose handshake is not in them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareBulk {
    /// Who sends it.
    pub sender: BulkSender,
    /// Bytes of one transfer.
    pub bytes: u64,
    /// Bytes of data in each record (RFC 8449 limits these and, under TLS 1.3, one byte more).
    pub record: u64,
    /// Whether the library may use what this CPU has for AES; false where the run told it not to.
    pub hardware: bool,
}

named! {
    /// Who sends bulk data.
    pub enum BulkSender {
        /// The client.
        Client = "client",
        /// The server.
        Server = "server",
    }
}

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

/// What a side of one kind of connection takes of the heap, in bytes as the library asks for them: what malloc adds to a block is not
/// among them, nor what the process has once for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareMemory {
    /// The stack.
    pub stack: String,
    /// The stack of its peers.
    pub peer: String,
    /// Which side of the connection it is: `client` or `server`.
    pub side: CompareSide,
    /// The handshake.
    #[serde(flatten)]
    pub case: CompareCase,
    /// So many connections were alive in the end. A sample is the mean of a tenth of them.
    pub connections: u64,
    /// A context, with its certificates and key, after the first one of the process.
    pub context: CompareBytes,
    /// The most that one connection takes until both handshakes are complete, its creation included.
    pub peak: CompareBytes,
    /// What one connection holds then, with its buffers as the library leaves them and no data under way.
    pub held: CompareBytes,
    /// What it holds once each side has sent 64 bytes of data and received as many, and nothing is under way; null in results of before.
    #[serde(default)]
    pub idle: Option<CompareBytes>,
    /// What one session takes that is kept to be resumed, under TLS 1.2 by its ID, under TLS 1.3 by a ticket: the client's, and of a server's cache
    /// what grows with it. Null where the stack keeps none, where its cache is of a fixed size, and in rows of small or of released buffers.
    #[serde(default)]
    pub session: Option<CompareBytes>,
    /// Code and constants of the plugin's file and of the TLS libraries that it loads; null of what is built in, whose code is not apart
    /// from that of Reprise.
    pub code: Option<u64>,
}

/// Bytes, of several samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareBytes {
    /// Their median.
    pub median: u64,
    /// Its interval; null under six samples.
    pub ci95: Option<[u64; 2]>,
    /// The samples, in the order in which they were taken.
    pub samples: Vec<u64>,
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

/// A suite's IANA name without its key exchange: `TLS_AES_128_GCM_SHA256` and `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` have one.
pub fn cipher_of(suite: &str) -> &str {
    suite.split_once("_WITH_").map_or_else(|| suite.strip_prefix("TLS_").unwrap_or(suite), |(_, cipher)| cipher)
}

impl CompareCase {
    /// Of bulk data: whether the library may use what this CPU has for AES.
    pub fn hardware(&self) -> Option<bool> {
        self.bulk.as_ref().map(|bulk| bulk.hardware)
    }

    /// Of bulk data: bytes of data in each record.
    pub fn record(&self) -> Option<u64> {
        self.bulk.as_ref().map(|bulk| bulk.record)
    }
}

/// Both stacks, "engine → rustls-ring", or the one that was measured with itself.
pub fn stack_pair(client: &str, server: &str) -> String {
    if client == server { client.to_owned() } else { format!("{client} → {server}") }
}

/// Data by CPU time: 10^6 bytes in a second of one core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The median.
    pub median: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
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

/// How two handshakes of one pair compare: median(from) / median(to). Above 1 means that `to` is cheaper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareRatio {
    /// The client's stack.
    pub client: String,
    /// The server's.
    pub server: String,
    /// Whose time.
    pub side: CompareSide,
    /// The handshake in the numerator.
    pub from: CompareCase,
    /// The handshake in the denominator.
    pub to: CompareCase,
    /// The ratio.
    pub median: f64,
    /// Its interval; null under six samples.
    pub ci95: Option<[f64; 2]>,
}

/// What could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareSkipped {
    /// The client's stack.
    pub client: String,
    /// The server's.
    pub server: String,
    /// The handshake.
    #[serde(flatten)]
    pub case: CompareCase,
    /// `unsupported`, `failed`, `contradicted`, `crashed`, `hung`, `broken`.
    pub outcome: String,
    /// In words.
    pub reason: String,
}

/// Whether a client and a server made a handshake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareMatrixCell {
    /// The client's stack.
    pub client: String,
    /// The server's.
    pub server: String,
    /// The version.
    pub tls: Version,
    /// The kind.
    pub kind: Kind,
    /// How a PSK of TLS 1.3, from a ticket or external, is used; null in other handshakes.
    #[serde(default)]
    pub psk_mode: Option<PskMode>,
    /// `works`, or as [`CompareSkipped::outcome`].
    pub outcome: String,
    /// In words, where it does not work.
    pub reason: Option<String>,
}

/// A published claim, held against a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareClaim {
    /// Who says so.
    pub source: String,
    /// What is said, in words.
    pub claim: String,
    /// The client's stack and the server's, or the two that are compared.
    pub stack: String,
    /// The published ratio of the first handshake's time to the second's; `null` where no figure was published.
    pub published: Option<f64>,
    /// The measured one: of time on a clock over loopback, of both sides' CPU time over memory, or of the server's where `stack` says so;
    /// `null` where there is none, for the reason in `why`.
    pub measured: Option<f64>,
    /// Its interval.
    pub ci95: Option<[f64; 2]>,
    /// `same direction`, `other direction`, `no difference` where the interval includes 1, `too few samples`, `not decided`
    /// where the stack cannot do what was measured.
    pub verdict: String,
    /// Why it is not as published, as far as the figures of this run tell; in words.
    #[serde(default)]
    pub why: Option<String>,
}

impl CompareDocument {
    /// The name of this document.
    pub const SCHEMA: &'static str = "reprise.compare/1";
}
