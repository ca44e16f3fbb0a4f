//! `reprise.compare/1`: what a handshake costs each side, in each TLS library, over memory or over loopback.

use serde::{Deserialize, Serialize};

use super::{
    CompareBaseline, CompareCase, CompareLinks, CompareRatio, CompareRow, CompareScaling, CompareSide, CompareThreads,
    ConditionRecord, Provenance,
};
use crate::{Kind, PskMode, Version};

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
    /// The handshakes in several threads at once, in place of `rows`; null where no number of threads was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<CompareScaling>,
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

/// A suite's IANA name without its key exchange: `TLS_AES_128_GCM_SHA256` and `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` have one.
pub fn cipher_of(suite: &str) -> &str {
    suite.split_once("_WITH_").map_or_else(|| suite.strip_prefix("TLS_").unwrap_or(suite), |(_, cipher)| cipher)
}

/// Both stacks, "engine → rustls-ring", or the one that was measured with itself.
pub fn stack_pair(client: &str, server: &str) -> String {
    if client == server { client.to_owned() } else { format!("{client} → {server}") }
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
