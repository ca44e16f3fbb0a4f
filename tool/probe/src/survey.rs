//! What a server would have wanted that refuses everything that is offered.

use std::sync::Arc;

use reprise_engine::suite::SUITES;
use reprise_engine::{Config, Error, Unspoken};
use reprise_model::{Asked, FailureClass, FaultName, Kind, Observation, Version};
use reprise_wire::{AlertDescription, NamedGroup};

use crate::connection_plan::ConnectionPlan;
use crate::connector::Connector;
use crate::failed::FailedConnection;
use crate::plan::{Plan, VersionPlan};

/// The alerts of a server that finds nothing in common.
const NOTHING_IN_COMMON: [AlertDescription; 3] =
    [AlertDescription::HANDSHAKE_FAILURE, AlertDescription::PROTOCOL_VERSION, AlertDescription::INSUFFICIENT_SECURITY];

/// Why these versions were refused. A server that finds nothing in common is shown everything that is known of the version that it
/// refused, and nothing of any other version, so that its choice names what it would have wanted. Of several versions, the first
/// that shows it speaks for all; where none does, the failure that came farthest stands: who answers with something else than HTTP under
/// TLS 1.2 does not lack a version. Each connection is told to `count`. `None` where no version was refused.
pub(crate) fn recognise(
    connector: &mut Connector,
    plan: &Plan,
    refused: Vec<(Version, FailedConnection)>,
    mut count: impl FnMut(&Observation),
) -> Option<FailedConnection> {
    let is_spoken = refused.iter().any(|(_, failed)| failed.fault.class > FailureClass::Tls);
    for (version, failed) in refused.iter().filter(|_| !is_spoken) {
        let plan = plan.versions.iter().find(|plan| plan.version == *version);
        let is_refusal = NOTHING_IN_COMMON.iter().any(|alert| failed.fault.name == FaultName::Alert(alert.0));
        let mut connect = |config: Config| {
            let asked = Asked { tls: *version, kind: Kind::Full };
            let record = connector.connect(ConnectionPlan::discovery(&Arc::new(config), asked));
            count(&record.observation);
            record.completed()
        };
        if let Some(recognised) = plan.filter(|_| is_refusal).and_then(|plan| survey(plan, failed, &mut connect)) {
            return Some(recognised);
        }
    }
    let farthest = refused.into_iter().rev().max_by_key(|(_, failed)| failed.fault.class);
    farthest.map(|(_, failed)| failed)
}

fn survey(
    plan: &VersionPlan,
    failed: &FailedConnection,
    connect: &mut impl FnMut(Config) -> Result<Observation, FailedConnection>,
) -> Option<FailedConnection> {
    let own = || Config::clone(&plan.config);
    // What is spoken and was not offered too, or the server would seem to want something else.
    let cipher_suites = SUITES.iter().map(|suite| suite.id).collect();
    match connect(Config { survey: true, cipher_suites, ..own() }) {
        Ok(seen) => {
            let chosen = seen.facts().and_then(|facts| facts.group).map(NamedGroup);
            let wanted = chosen.filter(|group| !plan.config.groups.contains(group))?;
            // Advice that was not tried would be a guess.
            connect(Config { groups: vec![wanted], key_share_groups: Vec::new(), ..own() }).ok()?;
            Some(FailedConnection { wanted_group: Some(wanted), ..failed.clone() })
        }
        Err(recognised) if is_recognised(&recognised, plan.version) => Some(recognised),
        Err(_) => None,
    }
}

/// Between TLS 1.3 and what is older than TLS 1.2 the server was not shown what it may speak: of that, nothing is learned.
fn is_recognised(recognised: &FailedConnection, version: Version) -> bool {
    match recognised.fault.engine_error() {
        Some(Error::Unspoken(Unspoken::Version(_))) => version == Version::Tls12,
        _ => recognised.fault.name == FaultName::Unspoken,
    }
}
