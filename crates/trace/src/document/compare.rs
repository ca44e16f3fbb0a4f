//! `reprise.compare/1`: what a handshake costs each side, in each TLS library, over memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Provenance, Statistics, Traffic};
use crate::{Kind, KindCounts, PskMode, Version};

/// Everything that one run of `reprise compare` measured. All times are CPU time of one side, from the making of its connection to
/// its end, without any waiting.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CompareDocument {
    /// `reprise.compare/1`.
    pub schema: String,
    /// What was compared: `resumption`, `full`, `mutual`, `stacks`.
    pub scenario: String,
    /// How time was taken.
    pub clock: CompareClock,
    /// The seed of the order.
    pub seed: u64,
    /// The stacks, in the order of the tables.
    pub stacks: Vec<ComparedStack>,
    /// One for each pair and handshake that could be measured.
    pub rows: Vec<CompareRow>,
    /// How two handshakes of one pair compare.
    pub ratios: Vec<CompareRatio>,
    /// What could not be measured, and why.
    pub skipped: Vec<CompareSkipped>,
    /// What works with what.
    pub matrix: Vec<CompareMatrixCell>,
    /// The published claims about such handshakes, held against these figures.
    pub claims: Vec<CompareClaim>,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// How time was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompareClock {
    /// What one interval of the thread's CPU clock costs by itself, which was taken off each turn; the largest of all children.
    pub reading_ns: u64,
    /// CPU time of the threads that made the connections.
    pub thread_ns: u64,
    /// Of it, what was charged to a client or a server.
    pub charged_ns: u64,
}

/// A stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedStack {
    /// Its name in the tables.
    pub name: String,
    /// The library's own name.
    pub library: String,
    /// Its version.
    pub version: String,
    /// How it was built.
    pub flags: String,
    /// What it can do.
    pub abilities: Vec<String>,
    /// The plugin's file; null where it is built in.
    pub file: Option<String>,
    /// SHA-256 of that file.
    pub sha256: Option<String>,
}

/// A handshake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompareCase {
    /// The version.
    pub tls: Version,
    /// Full, or how it is resumed.
    pub kind: Kind,
    /// The key of the certificates.
    pub key: String,
    /// The group, IANA's name. Where a resumed handshake has none, that of its session.
    pub group: String,
    /// The suite, IANA's name.
    pub cipher: String,
    /// Whether the client is authenticated too.
    pub mutual: bool,
}

/// What one handshake costs between two stacks.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CompareRow {
    /// The client's stack.
    pub client: String,
    /// The server's.
    pub server: String,
    /// The handshake.
    #[serde(flatten)]
    pub case: CompareCase,
    /// How a TLS 1.3 ticket was used, as observed.
    pub psk_mode: Option<PskMode>,
    /// How many samples.
    pub n: u64,
    /// A sample is the mean of so many connections, made one after the other.
    pub connections: u64,
    /// The kinds that were observed.
    pub kinds: KindCounts,
    /// The client's CPU time.
    pub client_ns: Statistics,
    /// The server's CPU time.
    pub server_ns: Statistics,
    /// Both.
    pub both_ns: Statistics,
    /// Bytes, of the last connection of the warm-up.
    pub bytes: Traffic,
}

/// One side of a handshake, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CompareSide {
    /// The client.
    Client,
    /// The server.
    Server,
    /// Both, one after the other: what it costs where neither waits for the other.
    Both,
}

/// How two handshakes of one pair compare: median(from) / median(to). Above 1 means that `to` is cheaper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompareMatrixCell {
    /// The client's stack.
    pub client: String,
    /// The server's.
    pub server: String,
    /// The version.
    pub tls: Version,
    /// The kind.
    pub kind: Kind,
    /// `works`, or as [`CompareSkipped::outcome`].
    pub outcome: String,
    /// In words, where it does not work.
    pub reason: Option<String>,
}

/// A published claim, held against a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareClaim {
    /// Who says so.
    pub source: String,
    /// What is said, in words.
    pub claim: String,
    /// The client's stack and the server's.
    pub stack: String,
    /// The published ratio of the first handshake's time to the second's.
    pub published: Option<f64>,
    /// The measured one, of both sides' CPU time.
    pub measured: f64,
    /// Its interval.
    pub ci95: Option<[f64; 2]>,
    /// `same direction`, `other direction`, `no difference` where the interval includes 1.
    pub verdict: String,
}

impl CompareDocument {
    /// The name of this document.
    pub const SCHEMA: &'static str = "reprise.compare/1";
}
