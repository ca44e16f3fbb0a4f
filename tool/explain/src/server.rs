//! How far a server that was measured stands above the floor.

use reprise_model::Kind;
use reprise_model::document::{ExplainServer, LoadDocument, LoadHandshake, SpeedDocument, SpeedTcp};
use reprise_speed::{Handshake, least_of_server};

use crate::error::ExplainError;
use crate::measured::Measured;
use crate::plan::ExplainPlan;
use crate::seen::Seen;

/// A handshake, and how many there were.
pub(crate) struct Counted {
    pub(crate) handshake: Handshake,
    connections: u64,
}

/// Every handshake of the result: those that have a path, or those of a load.
pub(crate) fn counted(plan: &ExplainPlan<'_>, seen: &[Seen]) -> Result<Vec<Counted>, ExplainError> {
    let Measured::Load(document) = plan.result else {
        let of = |seen: &Seen| Counted { handshake: seen.handshake.clone(), connections: seen.connections };
        return Ok(seen.iter().map(of).collect());
    };
    if plan.change.is_some() {
        return Err(ExplainError::NoPath);
    }
    let counted = of_load(document, plan.certificates);
    // Without its key the operations of a full handshake would lack the signature, which is most of them.
    let is_unknown = |it: &Counted| it.handshake.kind == Kind::Full && it.handshake.key.is_none();
    match plan.result.server_cpu_ns() {
        _ if counted.is_empty() => Err(ExplainError::Nothing),
        None => Err(ExplainError::NoProcessorTime),
        Some(_) if counted.iter().any(is_unknown) => Err(ExplainError::UnknownKey),
        Some(_) => Ok(counted),
    }
}

fn of_load(document: &LoadDocument, certificates: u64) -> Vec<Counted> {
    let of = |seen: &LoadHandshake| Counted {
        handshake: Handshake {
            key: seen.peer_key.clone(),
            mutual: seen.client_certificate,
            ..Handshake::of(seen.tls, seen.kind, &seen.cipher, seen.group.as_deref(), certificates)
        },
        connections: document.completed.get(&seen.kind).copied().unwrap_or_default(),
    };
    document.handshakes.iter().map(of).filter(|it| it.connections > 0).collect()
}

/// `None` where an operation of one of the handshakes was measured nowhere.
pub(crate) fn above_the_floor(
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
