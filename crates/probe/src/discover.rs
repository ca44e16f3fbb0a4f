//! Finds out which versions a target speaks and how it offers to resume, from connections of its own.

use std::sync::Arc;

use reprise_engine::{Config, Session};
use reprise_trace::document::AllConnections;
use reprise_trace::{Asked, Failure, FailureClass, Kind, Version};

use crate::failure;
use crate::sessions::{Sessions, full, has_ticket, version_of};
use crate::visit::Visit;
use crate::visitor::Visitor;

/// What the target offers under one version.
pub(crate) struct Offering {
    pub(crate) version: Version,
    pub(crate) config: Arc<Config>,
    /// A ticket was given.
    pub(crate) ticket: Option<Sessions>,
    /// A session ID was given, to a client that asked for no ticket.
    pub(crate) id: Option<Sessions>,
    /// Whether these are another process's: then the first connection is to offer them.
    pub(crate) is_loaded: bool,
}

impl Offering {
    /// From sessions of another process, which show what the target speaks and offers without a connection; `None` if none
    /// is of this version.
    pub(crate) fn of_loaded(version: Version, config: &Arc<Config>, loaded: &[Session]) -> Option<Self> {
        let loaded = loaded.iter().filter(|session| version_of(session) == version).cloned();
        let (by_ticket, by_id): (Vec<_>, Vec<_>) = loaded.partition(has_ticket);
        let sessions = |of: Vec<Session>| {
            (!of.is_empty()).then(|| {
                let mut sessions = Sessions::default();
                sessions.keep(of);
                sessions
            })
        };
        let (ticket, id) = (sessions(by_ticket), sessions(by_id));
        let config = config.clone();
        (ticket.is_some() || id.is_some()).then_some(Self { version, config, ticket, id, is_loaded: true })
    }
}

/// What discovery came to.
pub(crate) struct Discovery {
    pub(crate) offerings: Vec<Offering>,
    /// Why the other versions could not be measured.
    pub(crate) failures: Vec<(Version, Failure)>,
}

impl Discovery {
    /// Where nothing but an external PSK is asked for: TLS 1.3, and no connection was made.
    pub(crate) fn of_psk(configs: Vec<(Version, Arc<Config>)>) -> Self {
        let tls13 = configs.into_iter().filter(|(version, _)| *version == Version::Tls13);
        let offerings =
            tls13.map(|(version, config)| Offering { version, config, ticket: None, id: None, is_loaded: false });
        Self { offerings: offerings.collect(), failures: Vec::new() }
    }

    /// Whether TLS was spoken and every handshake refused.
    pub(crate) fn is_all_refused(&self) -> bool {
        self.offerings.is_empty() && self.failures.iter().all(|(_, failure)| failure::is_refusal(failure))
    }
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
                discovery.offerings.push(Offering { version, config, ticket, id, is_loaded: false });
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
