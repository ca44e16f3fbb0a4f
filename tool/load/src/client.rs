//! The client that makes a load: the engine, which begins from a session of its thread's.

use std::sync::Arc;

use reprise_connection::{End, EngineClient, EnginePlan, Fault, SessionPolicy};
use reprise_engine::{Error, Offer, Session};
use reprise_model::{Facts, FaultName, Kind, Nanos};
use rustls_pki_types::UnixTime;

use crate::options::ConnectionPlan;
use crate::sessions::{name_of, offered_name};
use crate::shared::LoadShared;

/// One connection after the other.
pub type LoadClient = EngineClient<ThreadSessions>;

/// Begins from the sessions that a thread holds, and adds to them.
#[derive(Default)]
pub struct ThreadSessions {
    /// Which of the server names it sends.
    name: usize,
    /// Whether it offers a session.
    is_offering: bool,
    /// The ticket or the ID that it has offered, if that may be offered again.
    offered: Option<Vec<u8>>,
}

impl SessionPolicy for ThreadSessions {
    type Shared = LoadShared;
    type Plan = ConnectionPlan;

    /// Where there is no session to offer, it is a full handshake, from which one may come.
    fn plan(&mut self, shared: &mut LoadShared, plan: ConnectionPlan, now: Nanos) -> Result<(EnginePlan, Vec<u8>), Fault> {
        let name = shared.names.get_mut(plan.name).ok_or(Fault::new(FaultName::NothingToOffer))?;
        self.name = plan.name;
        let offer = name.sessions.offer(plan.kind, now);
        let is_offered_again = name.sessions.reuses(plan.kind);
        self.is_offering = !matches!(offer, Offer::Full { .. });
        self.offered = offered_name(&offer).filter(|_| is_offered_again).map(<[u8]>::to_vec);
        Ok((EnginePlan { config: Arc::clone(&name.config), offer, date: UnixTime::now() }, Vec::new()))
    }

    /// The next connections begin with the group that the server wanted by a HelloRetryRequest.
    fn failed(&mut self, shared: &mut LoadShared, error: &Error) {
        if let Error::RetryRequested(Some(group)) = error
            && let Some(name) = shared.names.get_mut(self.name)
        {
            name.prefer(*group);
        }
    }

    /// Keeps the sessions that the server gave, and forgets one that it refused.
    fn keep(&mut self, shared: &mut LoadShared, facts: Option<&Facts>, left: Vec<Session>, how: End) {
        let was_refused = how == End::Completed && facts.is_some_and(|facts| facts.kind == Kind::Full);
        shared.has_failed_with_offer = self.is_offering && how != End::Completed;
        let offered = self.offered.take();
        let Some(name) = shared.names.get_mut(self.name) else { return };
        // What was resumed by an ID, or by a ticket that was not renewed, is held already.
        let mut given = left.into_iter().filter(|session| offered.as_deref() != Some(name_of(session)));
        if let Some(refused) = offered.as_ref().filter(|_| was_refused) {
            name.sessions.replace(refused, given.next());
        }
        given.for_each(|session| name.sessions.keep(session));
    }
}
