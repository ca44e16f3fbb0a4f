//! Nodes that stand together: which of them accept whose sessions.

use serde::{Deserialize, Serialize};

use super::Finding;
use crate::{Asked, Kind, Nanos, Version};

/// What `diagnose --together` found out about nodes that should share their sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fleet {
    /// One sentence: how many share, who does not, and why.
    pub verdict: String,
    /// The nodes, in the order in which they were named; groups and cells name them by their place here, from 0.
    pub nodes: Vec<FleetNode>,
    /// The nodes that accept each other's sessions, the largest group first; who shares with none is a group alone.
    pub groups: Vec<FleetGroup>,
    /// Every pair of nodes between which sessions were offered, by version and mechanism.
    pub matrix: Vec<FleetCell>,
    /// Of all offers that a balancer would make which gives each node an equal part: the share that would be resumed by the mechanism
    /// that most clients use; null where nothing was accepted anywhere.
    pub shared: Option<f64>,
    /// The same for each mechanism.
    pub mechanisms: Vec<FleetMechanism>,
    /// Whether the nodes are the addresses of one name, among which each client chooses by itself: then no share is that of a balancer,
    /// and `shared` is of the addresses that answer. Absent where not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub are_addresses: bool,
    /// Whether there were too many nodes for all pairs, so that groups were checked by sampling.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sampled: bool,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
    /// Connections that were made.
    pub connections: u32,
    /// How long it took.
    pub seconds: f64,
    /// Whether it ended before everything was tried.
    #[serde(default)]
    pub incomplete: bool,
    /// Whether Ctrl-C ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What the reader should know before believing it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetNode {
    /// As it was named.
    pub target: String,
    /// The address that was asked; null where none is known.
    pub address: Option<String>,
    /// The software that its responses reveal.
    pub software: Option<String>,
    /// Whether a handshake completed.
    pub reached: bool,
    /// The names of the keys that sealed its tickets, where tickets name them, in the order in which they came.
    pub key_names: Vec<String>,
    /// SHA-256 of its certificate, DER; null where none was seen.
    pub certificate: Option<String>,
    /// The versions in which a handshake completed.
    pub versions: Vec<Version>,
    /// The suites that it chose (IANA).
    pub suites: Vec<String>,
    /// Its clock against this machine's in seconds, the least and the most that the dates of its responses allow; null where they
    /// have none.
    pub clock_s: Option<[i64; 2]>,
    /// Connections that did not complete.
    pub failed: u32,
    /// The fixed name of the last failure; null where there was none.
    pub failure: Option<String>,
}

/// Nodes that accept each other's sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetGroup {
    /// The nodes, by their place.
    pub nodes: Vec<usize>,
    /// The key names of their tickets.
    pub key_names: Vec<String>,
}

/// Sessions of one node, offered to another or to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetCell {
    /// The node that gave them, by its place.
    pub from: usize,
    /// The node that they were offered to.
    pub to: usize,
    /// The version.
    pub tls: Version,
    /// The mechanism.
    pub kind: Kind,
    /// How many offers came to an end.
    pub offered: u32,
    /// How many of them were resumed.
    pub accepted: u32,
}

/// One version and mechanism over all nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetMechanism {
    /// The version and the mechanism.
    pub asked: Asked,
    /// Offers of a node's sessions to that node, and how many were resumed.
    pub own: [u32; 2],
    /// Offers to other nodes, and how many were resumed.
    pub crossed: [u32; 2],
    /// The share that would be resumed behind a balancer that gives each node an equal part.
    pub shared: f64,
    /// Its 95 % interval (Wilson).
    pub ci95: [f64; 2],
    /// What the rest costs a connection, in time of the handshake; null where no handshake of both kinds was seen.
    pub cost_ns: Option<Nanos>,
}
