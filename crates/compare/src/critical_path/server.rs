//! How far a server that was measured stands above the floor.

use reprise_model::document::{ExplainServer, SpeedDocument, SpeedTcp};

use super::seen::Seen;
use crate::speed::least_of_server;

/// `None` where an operation of one of the handshakes was measured nowhere.
pub(super) fn above_the_floor(cpu_ns: u64, seen: &[Seen], speed: &SpeedDocument, tcp: SpeedTcp) -> Option<ExplainServer> {
    let connections: u64 = seen.iter().map(|seen| seen.connections).sum();
    let weighted = seen.iter().map(|seen| Some(least_of_server(&speed.rows, &seen.handshake)? * seen.connections as f64));
    let operations_ns = weighted.sum::<Option<f64>>()? / connections.max(1) as f64;
    let tcp_ns = tcp.server.min_ns;
    let ratio = cpu_ns as f64 / (operations_ns + tcp_ns).max(1.0);
    Some(ExplainServer { cpu_ns, operations_ns, tcp_ns, ratio, stacks: speed.stacks.len() as u64 })
}
