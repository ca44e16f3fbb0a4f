//! `reprise.speed/1`: how fast the operations are that handshakes and records are made of.

use serde::{Deserialize, Serialize};

use super::{CompareOver, CompareSide, ComparedStack, Provenance};
use crate::{Kind, Operation, Version};

/// Everything that one run of `reprise speed` measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedDocument {
    /// `reprise.speed/1`.
    pub schema: String,
    /// Samples of each row, if all went well.
    pub samples: u64,
    /// CPU time that one sample was to take, in nanoseconds.
    pub sample_ns: u64,
    /// The seed of the order and of the intervals.
    pub seed: u64,
    /// The stacks, in the order of the tables.
    pub stacks: Vec<ComparedStack>,
    /// One for each stack and operation, with the CPU's instructions for it and without.
    pub rows: Vec<SpeedRow>,
    /// What the CPU's instructions for AES, carry-less multiplication and SHA bring.
    pub hardware: Vec<SpeedHardware>,
    /// What the kernel takes for a TCP connection over loopback without data; null where it was not measured.
    pub tcp: Option<SpeedTcp>,
    /// The least that handshakes can cost here, and what they cost.
    pub floors: Vec<SpeedFloor>,
    /// What handshakes should cost by their operations and by another handshake of the same stack.
    #[serde(default)]
    pub predictions: Vec<SpeedPrediction>,
    /// What was published of the operations on the critical path, held against these figures.
    #[serde(default)]
    pub rules: Vec<SpeedRule>,
    /// What could not be measured, and why.
    pub skipped: Vec<SpeedSkipped>,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// CPU time of one operation, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedCost {
    /// The median of the samples.
    pub median_ns: f64,
    /// Its interval of 95 %; null under six samples.
    pub ci95_ns: Option<[f64; 2]>,
    /// The least of the samples.
    pub min_ns: f64,
}

/// One operation of one stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedRow {
    /// The stack.
    pub stack: String,
    /// The operation.
    pub operation: Operation,
    /// `rsa-2048`, `x25519`, `aes-128-gcm`, `sha-256`.
    pub algorithm: String,
    /// Bytes that it works through; null where it is not measured by them.
    pub bytes: Option<u64>,
    /// Whether the library may use the CPU's instructions for AES, carry-less multiplication and SHA.
    pub instructions: bool,
    /// How many samples; each is the mean of `batch` operations.
    pub n: u64,
    /// Operations of one sample.
    pub batch: u64,
    /// What one costs.
    pub once: SpeedCost,
}

/// An operation without the CPU's instructions over the same with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedHardware {
    /// The stack.
    pub stack: String,
    /// The operation.
    pub operation: Operation,
    /// The algorithm.
    pub algorithm: String,
    /// median(without) / median(with).
    pub ratio: f64,
    /// Its interval; null under six samples.
    pub ci95: Option<[f64; 2]>,
}

/// CPU time of a TCP connection over loopback: it is established and closed, and no data are sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedTcp {
    /// Of the end that connects.
    pub client: SpeedCost,
    /// Of the end that accepts.
    pub server: SpeedCost,
}

/// The least that one side of a handshake can cost on this machine: each operation that the protocol demands, at the best of all stacks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedFloor {
    /// The version.
    pub tls: Version,
    /// Full, or how it is resumed.
    pub kind: Kind,
    /// The key of the server's certificate.
    pub key: String,
    /// The group of the key exchange, of which a resumption under TLS 1.2 has none.
    pub group: String,
    /// Which side.
    pub side: CompareSide,
    /// CPU time of all operations.
    pub floor_ns: f64,
    /// The operations.
    pub operations: Vec<SpeedNeed>,
    /// The stacks' handshakes over memory, in the same run, cheapest first.
    pub handshakes: Vec<SpeedHandshake>,
}

/// An operation that a handshake demands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedNeed {
    /// The operation.
    pub operation: Operation,
    /// The algorithm.
    pub algorithm: String,
    /// How often.
    pub times: u64,
    /// The stack that is fastest at it.
    pub stack: String,
    /// What it costs once, there.
    pub once_ns: f64,
}

/// What a handshake costs one stack at both ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedHandshake {
    /// The stack.
    pub stack: String,
    /// How many samples.
    pub n: u64,
    /// CPU time of this side, the median.
    pub median_ns: u64,
    /// median / floor.
    pub ratio: f64,
    /// The operations that the floor has, at this stack's own speed; null where one of them was not measured with it.
    pub own_operations_ns: Option<f64>,
}

/// A handshake of a stack with itself: its operations at this stack's speed, as TLS does them, and what another handshake takes beside its own
/// operations. Over memory the CPU time of both sides; over loopback the time on a clock until the client may send data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedPrediction {
    /// The stack.
    pub stack: String,
    /// What it was measured over.
    #[serde(default)]
    pub over: CompareOver,
    /// The version.
    pub tls: Version,
    /// Full, or how it is resumed.
    pub kind: Kind,
    /// The key of the server's certificate.
    pub key: String,
    /// The group of the key exchange.
    pub group: String,
    /// The key of the handshake that the rest is taken from.
    pub from_key: String,
    /// Its group.
    pub from_group: String,
    /// What is predicted.
    pub predicted_ns: f64,
    /// What would be predicted by operations that are repeated: without `exchange` and `verify-new-key`.
    #[serde(default)]
    pub repeated_ns: f64,
    /// What was measured.
    pub measured_ns: f64,
    /// predicted / measured − 1.
    pub error: f64,
    /// Of a prediction that is more than 10 % off: what it lacks; else null.
    #[serde(default)]
    pub missing: Option<SpeedMissing>,
}

/// What a prediction lacks: the rest of the handshake is not that of the other one. More than it is above 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedMissing {
    /// The difference of the clients' rests: CPU time without that of their own operations.
    pub client_ns: f64,
    /// Of the servers'.
    pub server_ns: f64,
    /// An operation whose figure, measured alone, differs by at least half of both, in the same direction, from that of what is repeated:
    /// `hkdf-after`, `exchange`, `verify-new-key`; null where none does.
    pub operation: Option<Operation>,
    /// Its algorithm.
    pub algorithm: Option<String>,
    /// By how much it differs between the two handshakes, alone. It may be more than what is missing: a library calls others in between.
    pub alone_ns: Option<f64>,
}

/// A published rule: it holds where some operations cost more than others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedRule {
    /// Who says so.
    pub source: String,
    /// What is said.
    pub rule: String,
    /// The operations that must cost more.
    pub more: String,
    /// Those that must cost less.
    pub less: String,
    /// Of each stack that has these operations.
    pub stacks: Vec<SpeedRuleVerdict>,
}

/// Whether a rule holds for one stack here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedRuleVerdict {
    /// The stack.
    pub stack: String,
    /// Whether it holds.
    pub holds: bool,
    /// CPU time of the operations that must cost more.
    pub more_ns: f64,
    /// CPU time of those that must cost less.
    pub less_ns: f64,
    /// The operation that decides: the dearest on the side that costs more.
    pub decided_by: String,
}

/// What could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedSkipped {
    /// The stack.
    pub stack: String,
    /// The operation; null where none of the stack's could be measured.
    pub operation: Option<Operation>,
    /// The algorithm; likewise.
    pub algorithm: Option<String>,
    /// Whether with the CPU's instructions.
    pub instructions: bool,
    /// `unsupported`, `failed`, `contradicted`, `crashed`, `hung`, `broken`.
    pub outcome: String,
    /// In words.
    pub reason: String,
}

impl SpeedDocument {
    /// The name of this document.
    pub const SCHEMA: &'static str = "reprise.speed/1";

    /// The row of an operation.
    pub fn row(&self, stack: &str, operation: Operation, algorithm: &str, instructions: bool) -> Option<&SpeedRow> {
        self.rows.iter().find(|row| {
            (row.stack.as_str(), row.operation, row.algorithm.as_str(), row.instructions)
                == (stack, operation, algorithm, instructions)
        })
    }
}
