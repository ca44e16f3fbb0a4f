//! `reprise.explain/1`: what lies on the critical path of a handshake that was measured, and what a change would bring.

use serde::{Deserialize, Serialize};

use super::Provenance;
use crate::{Kind, Operation, Version};

/// What `reprise explain RESULT` says of a result of `measure` or `trace`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainDocument {
    /// `reprise.explain/1`.
    pub schema: String,
    /// What was measured.
    pub target: String,
    /// The schema of the result that is explained.
    pub of: String,
    /// The stack whose operations stand for the client's.
    pub client_stack: String,
    /// The stack whose operations stand for the server's.
    pub server_stack: String,
    /// Whether nobody said which stack the server has.
    pub server_assumed: bool,
    /// A path for each version and kind that was measured, and for the change that was asked for.
    pub paths: Vec<ExplainPath>,
    /// How far the server stands above the floor; absent where the result has no processor time of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ExplainServer>,
    /// What the reader should know of these figures.
    pub warnings: Vec<String>,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// What a connection cost the server's processes, and the least that its handshakes can cost on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainServer {
    /// Processor time of the server's processes for a connection, user and system, the mean of all kinds.
    pub cpu_ns: u64,
    /// Operations that the protocol demands of a server, each at the best of all stacks here: the mean of the same kinds.
    pub operations_ns: f64,
    /// What accepting a TCP connection and ending it takes over loopback.
    pub tcp_ns: f64,
    /// cpu / (operations + tcp).
    pub ratio: f64,
    /// Stacks whose operations were measured.
    pub stacks: u64,
}

/// The critical path of one handshake, from its first byte until the client may send application data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainPath {
    /// The version.
    pub tls: Version,
    /// What took place.
    pub kind: Kind,
    /// The server's key; null where its certificate was not sent.
    pub key: Option<String>,
    /// The group; null where there was no key exchange.
    pub group: Option<String>,
    /// What is other than was measured, as it was asked for; empty where it was measured so.
    pub changes: Vec<String>,
    /// A round trip of the network.
    pub round_trip_ns: u64,
    /// Round trips of the handshake, without TCP's.
    pub round_trips: u64,
    /// Everything that both sides do, in the order of time.
    pub steps: Vec<ExplainStep>,
    /// Round trips and operations on the path.
    pub path_ns: f64,
    /// The median that was measured; null of a change.
    pub measured_ns: Option<u64>,
    /// measured − path: what neither the network nor an operation explains. Of a change, that of the handshake which it is derived from.
    pub unexplained_ns: f64,
    /// Of a change: path + unexplained.
    pub predicted_ns: Option<f64>,
    /// Its interval, from those of the measurement and of the operations, and from the model's error; null where one of the first two has none.
    pub predicted_ci95_ns: Option<[f64; 2]>,
    /// Of a change: how far it is from what its operations say where it is made in memory, between the two stacks, in the same run: of both
    /// sides' CPU time. Null where it could not be made.
    #[serde(default)]
    pub model_error_ns: Option<f64>,
}

named! {
    /// Who does something, or waits.
    pub enum ExplainSide {
        /// The client.
        Client = "client",
        /// The network, in either direction.
        Network = "network",
        /// The server.
        Server = "server",
    }
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainStep {
    /// Whose it is.
    pub side: ExplainSide,
    /// The operation; null of the network.
    pub operation: Option<Operation>,
    /// The algorithm; likewise.
    pub algorithm: Option<String>,
    /// How often it is done.
    pub times: u64,
    /// The message that it waits for; of the network, the message that is on its way.
    pub message: String,
    /// When it begins, from the first byte.
    pub begin_ns: f64,
    /// How long it takes.
    pub took_ns: f64,
    /// Whether it lies on the critical path; else it overlaps with the other side.
    pub on_path: bool,
}

impl ExplainDocument {
    /// The name of this document.
    pub const SCHEMA: &'static str = "reprise.explain/1";
}

impl ExplainPath {
    /// What of the path one side takes.
    pub fn share_of(&self, side: ExplainSide) -> f64 {
        self.steps.iter().filter(|step| step.on_path && step.side == side).map(|step| step.took_ns).sum()
    }
}
