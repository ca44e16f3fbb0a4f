//! One version and kind while it is being measured: what it offers, connection after connection.

use std::sync::Arc;

use reprise_engine::{Config, ExternalPsk, Offer, Session};
use reprise_trace::document::{AllConnections, FirstConnection};
use reprise_trace::{Asked, Attempt, Failure, Kind, Nanos};

use crate::discover::{Offering, count};
use crate::sessions::{Sessions, full};
use crate::visit::Visit;
use crate::visitor::Visitor;

/// The connections of one version and kind.
pub(crate) struct Lane {
    pub(crate) asked: Asked,
    config: Arc<Config>,
    sessions: Sessions,
    /// Whether its first connection is to offer what another process left behind.
    pub(crate) begins_with_loaded: bool,
}

/// What the lanes are, and what of the sessions that were loaded none of them can offer.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) unused: Vec<Session>,
}

impl Plan {
    /// One lane for each version and kind: those that were named, or `full` and whatever the target offers. A request of
    /// `early` bytes may be sent as early data.
    pub(crate) fn of(offerings: Vec<Offering>, named: &[Kind], psk: Option<&ExternalPsk>, early: Option<usize>) -> Self {
        let mut plan = Self::default();
        for offering in offerings {
            plan.add(offering, named, psk, early);
        }
        plan
    }

    fn add(&mut self, offering: Offering, named: &[Kind], psk: Option<&ExternalPsk>, early: Option<usize>) {
        let Offering { version, config, mut ticket, mut id, is_loaded } = offering;
        let allows_early = ticket.as_ref().zip(early).is_some_and(|(sessions, bytes)| sessions.allows_early(bytes));
        for kind in Kind::ALL {
            let offered = match kind {
                Kind::Full => true,
                Kind::Id => id.is_some(),
                Kind::Ticket => ticket.is_some(),
                Kind::Psk => psk.is_some(),
                Kind::Early => allows_early,
            };
            let wanted = if named.is_empty() { offered } else { named.contains(&kind) };
            if kind.exists_under(version) && wanted {
                let sessions = match kind {
                    Kind::Ticket | Kind::Early => ticket.take(),
                    Kind::Id => id.take(),
                    Kind::Psk => psk.cloned().map(Sessions::of_psk),
                    Kind::Full => None,
                };
                let begins_with_loaded = is_loaded && kind != Kind::Psk && sessions.is_some();
                let (asked, sessions) = (Asked { tls: version, kind }, sessions.unwrap_or_default());
                self.lanes.push(Lane { asked, config: config.clone(), sessions, begins_with_loaded });
            }
        }
        if is_loaded {
            self.unused.extend(ticket.into_iter().chain(id).flat_map(Sessions::into_sessions));
        }
    }

    /// Everything that was not used, the newest last.
    pub(crate) fn into_sessions(self) -> Vec<Session> {
        self.unused.into_iter().chain(self.lanes.into_iter().flat_map(|lane| lane.sessions.into_sessions())).collect()
    }
}

impl Lane {
    /// One counted connection. Where it lacks something to offer, a full connection that is not counted comes first.
    pub(crate) fn connect(&mut self, visitor: &mut Visitor, all: &mut AllConnections) -> Attempt {
        let offer = match self.take_offer(visitor) {
            Some(offer) => offer,
            None => {
                let priming = self.visit(visitor, full(self.asked), all);
                priming.attempt?;
                // A server that gives nothing is asked all the same: the sample will say what was observed.
                self.take_offer(visitor).unwrap_or_else(|| full(self.asked))
            }
        };
        self.visit(visitor, offer, all).attempt
    }

    /// The process's first connection, with a session that another left behind.
    pub(crate) fn connect_first(
        &mut self,
        visitor: &mut Visitor,
        all: &mut AllConnections,
    ) -> Result<(reprise_trace::Sample, FirstConnection), Failure> {
        let offer = self.take_offer(visitor).unwrap_or_else(|| full(self.asked));
        let session_age_ns = age(&offer, visitor.clock.now()).0;
        let sample = self.visit(visitor, offer, all).attempt?;
        let (local_port, asked, kind) = (sample.local_port, sample.asked, sample.outcome.kind);
        let first = FirstConnection { local_port, asked, kind, session_age_ns, phases: sample.phases };
        Ok((sample, first))
    }

    fn take_offer(&mut self, visitor: &Visitor) -> Option<Offer> {
        let early = visitor.early_data().unwrap_or(usize::MAX);
        self.sessions.take_offer(self.asked, visitor.clock.now(), early)
    }

    fn visit(&mut self, visitor: &mut Visitor, offer: Offer, all: &mut AllConnections) -> Visit {
        let mut visit = visitor.visit(&self.config, self.asked, offer);
        count(all, &visit);
        if matches!(&visit.attempt, Ok(sample) if sample.outcome.session_offered && sample.outcome.kind == Kind::Full) {
            self.sessions.forget_refused();
        }
        self.sessions.keep(std::mem::take(&mut visit.sessions));
        visit
    }
}

/// How old the session is that is offered.
pub(crate) fn age(offer: &Offer, now: Nanos) -> Nanos {
    match offer {
        Offer::Ticket(ticket) | Offer::Early(ticket) => ticket.received.age(now),
        Offer::SessionId(session) | Offer::SessionTicket(session) => session.received.age(now),
        Offer::Full { .. } | Offer::External(_) => Nanos(0),
    }
}
