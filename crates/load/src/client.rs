//! The client that makes a load: the engine, which begins from a session of its thread's.

use std::sync::Arc;

use reprise_connection::{End, Endpoint, EndpointEvent, EngineClient, EnginePlan, Fault};
use reprise_engine::Error;
use reprise_model::{Facts, FaultName, Kind, Nanos, Protocol};
use rustls_pki_types::UnixTime;

use crate::options::Plan;
use crate::sessions::{name_of, offered_name};
use crate::shared::LoadShared;

/// One connection after the other.
#[derive(Default)]
pub struct LoadClient {
    engine: EngineClient,
    /// Which of the server names it sends.
    name: usize,
    /// The ticket or the ID that it has offered, if that may be offered again.
    offered: Option<Vec<u8>>,
}

impl Endpoint for LoadClient {
    type Shared = LoadShared;
    type Plan = Plan;

    /// Where there is no session to offer, it is a full handshake, from which one may come.
    fn begin(&mut self, shared: &mut LoadShared, plan: Plan, now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        let name = shared.names.get_mut(plan.name).ok_or(Fault::new(FaultName::NothingToOffer))?;
        self.name = plan.name;
        let offer = name.sessions.offer(plan.kind, now);
        let is_offered_again = name.sessions.reuses(plan.kind);
        self.offered = offered_name(&offer).filter(|_| is_offered_again).map(<[u8]>::to_vec);
        let plan = EnginePlan { config: Arc::clone(&name.config), offer, date: UnixTime::now() };
        self.engine.begin(&mut shared.given, plan, now, out)
    }

    fn receive<'r>(
        &mut self,
        shared: &mut LoadShared,
        now: Nanos,
        record: &'r mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<EndpointEvent<'r>, Fault> {
        let received = self.engine.receive(&mut shared.given, now, record, out);
        if let Err(fault) = &received
            && let Some(Error::RetryRequested(Some(group))) = fault.engine_error()
            && let Some(name) = shared.names.get_mut(self.name)
        {
            name.prefer(*group);
        }
        received
    }

    fn refuse(&mut self, bytes: &[u8], error: reprise_wire::Error, is_first: bool, now: Nanos, out: &mut Vec<u8>) -> Fault {
        self.engine.refuse(bytes, error, is_first, now, out)
    }

    fn receive_end(&mut self, now: Nanos, in_record: bool, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.engine.receive_end(now, in_record, out)
    }

    fn send(&mut self, now: Nanos, data: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        self.engine.send(now, data, out)
    }

    fn close(&mut self, now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.engine.close(now, out)
    }

    fn depart(&mut self, now: Nanos) {
        self.engine.depart(now);
    }

    fn facts(&self) -> Option<Facts> {
        self.engine.facts()
    }

    fn alpn(&self) -> Option<Protocol> {
        self.engine.alpn()
    }

    fn is_confirmed(&self) -> bool {
        self.engine.is_confirmed()
    }

    fn awaited(&self) -> Option<&'static str> {
        self.engine.awaited()
    }

    /// Keeps the sessions that the server gave, and forgets one that it refused.
    fn end(&mut self, shared: &mut LoadShared, how: End) {
        let was_refused = how == End::Completed && self.facts().is_some_and(|facts| facts.kind == Kind::Full);
        self.engine.end(&mut shared.given, how);
        let offered = self.offered.take();
        let Some(name) = shared.names.get_mut(self.name) else { return };
        // What was resumed by an ID, or by a ticket that was not renewed, is held already.
        let mut given = shared.given.drain(..).filter(|session| offered.as_deref() != Some(name_of(session)));
        if let Some(refused) = offered.as_ref().filter(|_| was_refused) {
            name.sessions.replace(refused, given.next());
        }
        given.for_each(|session| name.sessions.keep(session));
    }
}
