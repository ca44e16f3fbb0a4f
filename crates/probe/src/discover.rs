//! Finds out which versions a target speaks and how it offers to resume, from connections of its own.

use std::sync::Arc;

use reprise_engine::Config;
use reprise_trace::document::AllConnections;
use reprise_trace::{Asked, Failure, FailureClass, Kind, Version};

use crate::sessions::{Sessions, full};
use crate::visit::{Visit, Visitor};

/// What the target offers under one version.
pub(crate) struct Offering {
    pub(crate) version: Version,
    pub(crate) config: Arc<Config>,
    /// A ticket was given.
    pub(crate) ticket: Option<Sessions>,
    /// A session ID was given, to a client that asked for no ticket.
    pub(crate) id: Option<Sessions>,
}

/// What discovery came to.
pub(crate) struct Discovery {
    pub(crate) offerings: Vec<Offering>,
    /// Why the other versions could not be measured.
    pub(crate) failures: Vec<(Version, Failure)>,
}

/// Makes one full connection under each version, and under TLS 1.2 a second one that asks for no ticket, since a server
/// that is asked for a ticket gives no ID. Stops at once where the target cannot be reached at all.
pub(crate) fn discover(visitor: &mut Visitor, configs: Vec<(Version, Arc<Config>)>, all: &mut AllConnections) -> Discovery {
    let mut discovery = Discovery { offerings: Vec::new(), failures: Vec::new() };
    for (version, config) in configs {
        let mut look = |kind| {
            let asked = Asked { tls: version, kind };
            let visit = visitor.visit(&config, asked, full(asked));
            count(all, &visit);
            visit
        };
        match held(look(Kind::Ticket)) {
            Ok((ticket, _)) => {
                let id = if version == Version::Tls12 { held(look(Kind::Id)).ok().and_then(|(_, id)| id) } else { None };
                discovery.offerings.push(Offering { version, config, ticket, id });
            }
            Err(failure) => {
                let unreachable = !matches!(failure.class, FailureClass::Tls | FailureClass::Request);
                discovery.failures.push((version, failure));
                if unreachable {
                    break;
                }
            }
        }
    }
    discovery
}

/// The sessions that a full connection left behind: as a ticket, and as an ID.
fn held(visit: Visit) -> Result<(Option<Sessions>, Option<Sessions>), Failure> {
    let outcome = visit.attempt?.outcome;
    let mut sessions = Sessions::default();
    sessions.keep(visit.sessions);
    Ok(match (outcome.tickets > 0, outcome.session_id_given) {
        (true, _) => (Some(sessions), None),
        (false, true) => (None, Some(sessions)),
        (false, false) => (None, None),
    })
}

/// Counts a connection, whatever came of it.
pub(crate) fn count(all: &mut AllConnections, visit: &Visit) {
    match &visit.attempt {
        Ok(sample) => all.add(sample.outcome.kind),
        Err(failure) if failure.class == FailureClass::Interrupted => {}
        Err(_) => all.failed += 1,
    }
}
