//! `reprise.layers/1`: what it costs to start again at each level.

use serde::{Deserialize, Serialize};

use super::{ComparedStack, Provenance, Statistics};
use crate::{Kind, KindCounts, Level, Nanos, Version};

/// Everything that one run of `reprise layers` measured: the same request again and again, each time started again at one
/// level.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayersDocument {
    /// `reprise.layers/1`.
    pub schema: String,
    /// What was asked: `HOST:PORT/PATH`, or `embedded lab`.
    pub target: String,
    /// The address that answered.
    pub address: String,
    /// How many requests are counted in each row, if all went well.
    pub count: u64,
    /// The HTTP method.
    pub method: String,
    /// The delay that was added to each way, in nanoseconds; null where there was none.
    pub delay_ns: Option<Nanos>,
    /// What a context is made of.
    pub context: LayersContext,
    /// The seed of the order.
    pub seed: u64,
    /// The stacks, in the order of the tables.
    pub stacks: Vec<ComparedStack>,
    /// One for each stack, version, level, without and with sessions.
    pub rows: Vec<LayersRow>,
    /// What each level costs more than the next one.
    pub differences: Vec<LayersDifference>,
    /// What the random generator of each library costs a new process, where the plugin shows it.
    pub generators: Vec<LayersGenerator>,
    /// What could not be measured, and why.
    pub skipped: Vec<LayersSkipped>,
    /// What was published of such measurements, held against these figures.
    pub claims: Vec<LayersClaim>,
    /// What a program should change, one paragraph for each stack and version.
    pub advice: Vec<String>,
    /// What the reader should know of these figures.
    pub warnings: Vec<String>,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// What a context is made of: read from files each time that one is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayersContext {
    /// How many certificates are trusted.
    pub trusted: u64,
    /// In how many files.
    pub files: u64,
    /// The client's key and certificate are sent: `p-256`, `rsa-2048`; null where there is none.
    pub client_key: Option<String>,
    /// Whether that key is encrypted, and is decrypted for each context.
    pub encrypted: bool,
}

/// What a request costs that is begun anew at one level.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayersRow {
    /// The stack.
    pub stack: String,
    /// The version.
    pub tls: Version,
    /// The level.
    pub level: Level,
    /// Whether each handshake offers the session of the one before.
    pub sessions: bool,
    /// How many samples; each is the mean of [`LayersRow::batch`] requests.
    pub n: u64,
    /// Requests of one sample, made one after the other.
    pub batch: u64,
    /// Requests that are counted.
    pub requests: u64,
    /// Handshakes for them.
    pub handshakes: u64,
    /// Handshakes that are not counted: the first, which leaves a session; at `msg` those of the connections.
    pub uncounted: u64,
    /// The kinds that were observed, of the counted requests; at `msg`, of their connections.
    pub kinds: KindCounts,
    /// Of those kinds, full handshakes in which the client offered a session that the server did not accept.
    pub refused: u64,
    /// And those in which the client offered none, though it had one: rustls offers it only under the configuration that it is
    /// of, and none was to be had where the server gave none.
    pub not_offered: u64,
    /// CPU time of the client for one request, the kernel's work for it included.
    pub cpu_ns: Statistics,
    /// Time for one request.
    pub wall_ns: Statistics,
    /// Every handshake, in order, counted or not.
    pub connections: Vec<LayersConnection>,
}

/// One handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayersConnection {
    /// The client's port.
    pub local_port: u16,
    /// What was observed.
    pub kind: Kind,
}

/// What it costs to begin a request anew at one level instead of the next one: median(from) − median(to).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayersDifference {
    /// The stack.
    pub stack: String,
    /// The version.
    pub tls: Version,
    /// Whether sessions are offered.
    pub sessions: bool,
    /// The level.
    pub from: Level,
    /// The next level that was measured.
    pub to: Level,
    /// CPU time.
    pub cpu_ns: LayersChange,
    /// Time.
    pub wall_ns: LayersChange,
}

/// A difference of two medians, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayersChange {
    /// The difference.
    pub median_ns: i64,
    /// Its interval; null under six samples.
    pub ci95_ns: Option<[i64; 2]>,
}

/// What a library's random generator costs a new process: CPU time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayersGenerator {
    /// The stack.
    pub stack: String,
    /// The library's initialisation, before any random bytes.
    pub init_ns: Statistics,
    /// The first 32 bytes: the generator is made and takes its seed from the kernel.
    pub first_ns: Statistics,
    /// The next 32.
    pub next_ns: Statistics,
}

/// What could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayersSkipped {
    /// The stack.
    pub stack: String,
    /// The version; null where the stack itself cannot be used.
    pub tls: Option<Version>,
    /// The level; likewise.
    pub level: Option<Level>,
    /// Whether sessions were offered.
    pub sessions: bool,
    /// `unsupported`, `failed`, `contradicted`, `crashed`, `hung`, `broken`.
    pub outcome: String,
    /// In words.
    pub reason: String,
}

/// A published finding, held against this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayersClaim {
    /// Who says so.
    pub source: String,
    /// What is said.
    pub claim: String,
    /// The stack.
    pub stack: String,
    /// The version.
    pub tls: Version,
    /// `confirmed`, `refuted`, `undecided`.
    pub verdict: String,
    /// The figures that say so.
    pub because: String,
}

impl LayersDocument {
    /// The name of this document.
    pub const SCHEMA: &'static str = "reprise.layers/1";
}
