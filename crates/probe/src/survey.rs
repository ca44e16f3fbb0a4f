//! What a server would have wanted that refuses everything that is offered.

use std::sync::Arc;

use reprise_engine::Config;
use reprise_trace::{Asked, FaultName, Kind, Purpose, Version};
use reprise_wire::{AlertDescription, NamedGroup};

use crate::connector::Connector;
use crate::failed::Failed;
use crate::stock::full;
use crate::trial::{Trial, Tried};

/// The alerts of a server that finds nothing in common.
const NOTHING_IN_COMMON: [AlertDescription; 3] =
    [AlertDescription::HANDSHAKE_FAILURE, AlertDescription::PROTOCOL_VERSION, AlertDescription::INSUFFICIENT_SECURITY];

/// A server that refuses everything that is spoken here is shown everything that is known, so that its choice names what it
/// would have wanted. The connection is told to `count`.
pub(crate) fn recognise(
    connector: &mut Connector,
    survey: &Arc<Config>,
    failed: Failed,
    count: impl FnOnce(&Tried),
) -> Failed {
    if !NOTHING_IN_COMMON.iter().any(|alert| failed.fault.name == FaultName::Alert(alert.0)) {
        return failed;
    }
    let asked = Asked { tls: Version::Tls13, kind: Kind::Full };
    let purpose = Purpose::Discovery;
    let tried = connector.connect(Trial { config: survey.clone(), asked, purpose, offer: full(asked), origin: None });
    count(&tried);
    match tried.completed() {
        Err(recognised) if recognised.fault.name == FaultName::Unspoken => recognised,
        Ok(seen) => {
            let chosen = seen.facts().and_then(|facts| facts.group).map(NamedGroup);
            Failed { wanted_group: chosen.filter(|group| !survey.groups.contains(group)), ..failed }
        }
        Err(_) => failed,
    }
}
