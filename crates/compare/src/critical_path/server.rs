//! How far a server that was measured stands above the floor.

use reprise_model::Outcome;
use reprise_model::document::{ExplainServer, LoadDocument, SpeedDocument, SpeedTcp};

use super::seen::Seen;
use super::{ExplainError, ExplainPlan, Measured};
use crate::speed::{Handshake, least_of_server};

/// A handshake, and how many there were.
pub(super) struct Counted {
    pub(super) handshake: Handshake,
    connections: u64,
}

/// Every handshake of the result: those that have a path, or those of a load.
pub(super) fn counted(plan: &ExplainPlan<'_>, seen: &[Seen]) -> Result<Vec<Counted>, ExplainError> {
    let Measured::Load(document) = plan.result else {
        let of = |seen: &Seen| Counted { handshake: seen.handshake.clone(), connections: seen.connections };
        return Ok(seen.iter().map(of).collect());
    };
    if plan.change.is_some() {
        return Err(ExplainError::NoPath);
    }
    let counted = of_load(document, plan.certificates);
    match (counted.is_empty(), plan.result.server_cpu_ns()) {
        (true, _) => Err(ExplainError::Nothing),
        (_, None) => Err(ExplainError::NoProcessorTime),
        _ => Ok(counted),
    }
}

fn of_load(document: &LoadDocument, certificates: u64) -> Vec<Counted> {
    let of = |outcome: &Outcome| Counted {
        handshake: Handshake::of(outcome, certificates),
        connections: document.completed.get(&outcome.kind).copied().unwrap_or_default(),
    };
    document.handshakes.iter().map(of).filter(|it| it.connections > 0).collect()
}

/// `None` where an operation of one of the handshakes was measured nowhere.
pub(super) fn above_the_floor(
    cpu_ns: u64,
    counted: &[Counted],
    speed: &SpeedDocument,
    tcp: SpeedTcp,
) -> Option<ExplainServer> {
    let connections: u64 = counted.iter().map(|it| it.connections).sum();
    let weighted = counted.iter().map(|it| Some(least_of_server(&speed.rows, &it.handshake)? * it.connections as f64));
    let operations_ns = weighted.sum::<Option<f64>>()? / connections.max(1) as f64;
    let tcp_ns = tcp.server.min_ns;
    let ratio = cpu_ns as f64 / (operations_ns + tcp_ns).max(1.0);
    Some(ExplainServer { cpu_ns, operations_ns, tcp_ns, ratio, stacks: speed.stacks.len() as u64 })
}
