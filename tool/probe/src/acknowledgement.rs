//! Connections that tell a server that waits for acknowledgements from a slow one: on every other of them, whatever it sends is
//! acknowledged at once.

use std::sync::Arc;
use std::time::Duration;

use reprise_engine::Config;
use reprise_model::{Asked, Kind, Nanos, Observation, Purpose, Version};

use crate::connection_plan::{CloseBehavior, ConnectionPlan, SessionOffer};
use crate::connector::Connector;
use crate::series::Series;

/// As long as Linux delays an acknowledgement, and a little less; others delay it longer.
pub(crate) const DELAYED: Nanos = Nanos(35_000_000);

/// So many connections of each of the two.
const EACH: usize = 6;

/// One of these connections, a full handshake on which the request was sent twice, where the server let it.
#[derive(Clone, Copy, Debug)]
pub struct AcknowledgementTrial {
    /// Whether whatever the server sent was acknowledged at once.
    pub at_once: bool,
    /// What was seen.
    pub observation: Observation,
}

/// Whether so many connections or requests took as long for their answer as one takes that waits for an acknowledgement.
pub(crate) fn may_wait_for_one(answers: impl Iterator<Item = u64>) -> bool {
    let answers: Vec<u64> = answers.collect();
    cfg!(target_os = "linux") && reprise_stats::median(&answers).is_some_and(|median| median >= DELAYED.0)
}

/// Nanoseconds from the request to the last byte of the response.
pub(crate) fn first_answer(seen: &Observation) -> Option<u64> {
    Some(seen.phases.wait?.0.saturating_add(seen.phases.receive.unwrap_or_default().0))
}

/// The same of the request after it.
pub(crate) fn next_answer(seen: &Observation) -> Option<u64> {
    seen.next_request.map(|next| next.wait.0.saturating_add(next.receive.0))
}

/// Whether the answers of these connections are a reason to make the others. Who asks for a few connections does not want twelve more.
pub(crate) fn calls_for_trials(series: &Series) -> bool {
    let seen = || series.observations.iter().filter(|it| it.is_as_asked());
    seen().count() >= EACH
        && (may_wait_for_one(seen().filter_map(first_answer)) || may_wait_for_one(seen().filter_map(next_answer)))
}

/// Makes them under one version; one that fails ends it.
pub(crate) fn try_acknowledging(
    connector: &mut Connector,
    config: &Arc<Config>,
    version: Version,
    spacing: Duration,
) -> Vec<AcknowledgementTrial> {
    let asked = Asked { tls: version, kind: Kind::Full };
    let mut trials = Vec::new();
    for at_once in [false, true].repeat(EACH) {
        let behavior = CloseBehavior { asks_again: true, acknowledges_at_once: at_once, ..CloseBehavior::default() };
        let plan = ConnectionPlan::sample(config, asked, SessionOffer::nothing(asked));
        let next_at = connector.now() + spacing.into();
        let record = connector.connect(ConnectionPlan { purpose: Purpose::Discovery, behavior, ..plan });
        let has_failed = record.fault.is_some();
        trials.push(AcknowledgementTrial { at_once, observation: record.observation });
        if has_failed {
            break;
        }
        connector.wait_until(next_at);
    }
    trials
}
