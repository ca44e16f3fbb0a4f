//! The measuring engine as an endpoint.

use std::sync::Arc;

use reprise_engine::{Config, Connection, Error, Offer, Session, Start};
use reprise_model::{Facts, FaultName, Nanos, Protocol};
use rustls_pki_types::UnixTime;

use crate::endpoint::{End, Endpoint, EndpointEvent, MessageLog};
use crate::fault::Fault;

/// The measuring engine, which begins from a session as `P` says.
#[derive(Default)]
pub struct EngineClient<P = AsPlanned> {
    sessions: P,
    connection: Option<Connection>,
    was_ready: bool,
}

/// How a client chooses the session that the engine begins from, and keeps those that a connection leaves.
pub trait SessionPolicy {
    /// What connections share: [`Endpoint::Shared`].
    type Shared;
    /// What one connection is to be: [`Endpoint::Plan`].
    type Plan;

    /// The engine's plan, and the early data that it sends at once.
    ///
    /// # Errors
    /// If nothing can be offered.
    fn plan(&mut self, shared: &mut Self::Shared, plan: Self::Plan, now: Nanos) -> Result<(EnginePlan, Vec<u8>), Fault>;

    /// Is told the error of a record that ended a connection.
    fn failed(&mut self, _shared: &mut Self::Shared, _error: &Error) {}

    /// Takes what an ended connection leaves, the newest session last.
    fn keep(&mut self, shared: &mut Self::Shared, facts: Option<&Facts>, left: Vec<Session>, how: End);
}

/// The caller plans each connection, and all sessions are shared.
#[derive(Default)]
pub struct AsPlanned;

impl SessionPolicy for AsPlanned {
    type Shared = Vec<Session>;
    type Plan = EnginePlan;

    fn plan(&mut self, _shared: &mut Vec<Session>, plan: EnginePlan, _now: Nanos) -> Result<(EnginePlan, Vec<u8>), Fault> {
        Ok((plan, Vec::new()))
    }

    fn keep(&mut self, shared: &mut Vec<Session>, _facts: Option<&Facts>, left: Vec<Session>, _how: End) {
        shared.extend(left);
    }
}

/// What one connection of the engine is to be.
pub struct EnginePlan {
    /// What may be negotiated.
    pub config: Arc<Config>,
    /// What it offers to begin from.
    pub offer: Offer,
    /// The date, by which certificates are judged.
    pub date: UnixTime,
}

impl<P> EngineClient<P> {
    /// A client whose sessions are chosen and kept so.
    pub fn new(sessions: P) -> Self {
        Self { sessions, connection: None, was_ready: false }
    }

    fn fault(&self, error: Error) -> Fault {
        let answers_hello = self.connection.as_ref().is_none_or(|connection| connection.facts().is_none());
        Fault::of_engine(error, answers_hello)
    }

    fn connection(&mut self) -> Result<&mut Connection, Fault> {
        self.connection.as_mut().ok_or(Fault::new(FaultName::Closed))
    }

    /// What came of a call, once what it made has been moved to `out`.
    fn settle<T>(&mut self, result: Result<T, Error>, out: &mut Vec<u8>) -> Result<T, Fault> {
        if let Some(connection) = &mut self.connection {
            connection.append_outgoing(out);
        }
        result.map_err(|error| self.fault(error))
    }
}

impl<P: SessionPolicy> Endpoint for EngineClient<P> {
    type Shared = P::Shared;
    type Plan = P::Plan;

    fn begin(&mut self, shared: &mut P::Shared, plan: P::Plan, now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.was_ready = false;
        self.connection = None;
        let (plan, early_data) = self.sessions.plan(shared, plan, now)?;
        let start = Start { offer: plan.offer, date: plan.date };
        let connection = Connection::start(plan.config, start, now).map_err(|error| Fault::of_engine(error, false))?;
        self.connection.insert(connection).append_outgoing(out);
        if early_data.is_empty() { Ok(()) } else { self.send_early(now, &early_data, out).map(drop) }
    }

    fn receive<'r>(
        &mut self,
        shared: &mut Self::Shared,
        now: Nanos,
        record: &'r mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<EndpointEvent<'r>, Fault> {
        let connection = self.connection()?;
        let received = connection.receive_record(now, record);
        let (is_ready, is_closed) = (connection.ready().is_some(), connection.is_peer_closed());
        if let Err(error) = &received {
            self.sessions.failed(shared, error);
        }
        let data = self.settle(received, out)?;
        Ok(match data {
            Some(place) => EndpointEvent::Data(record.get(place).unwrap_or_default()),
            None if is_ready && !std::mem::replace(&mut self.was_ready, is_ready) => EndpointEvent::Ready,
            None if is_closed => EndpointEvent::Closed,
            None => EndpointEvent::Nothing,
        })
    }

    fn refuse(&mut self, bytes: &[u8], error: reprise_wire::Error, is_first: bool, now: Nanos, out: &mut Vec<u8>) -> Fault {
        let refused = match self.connection() {
            Ok(connection) => connection.refuse_record(now, bytes, error, is_first),
            Err(fault) => return fault,
        };
        match self.settle(Err::<(), Error>(refused), out) {
            Err(fault) => fault,
            Ok(()) => Fault::new(FaultName::Malformed),
        }
    }

    fn receive_end(&mut self, now: Nanos, in_record: bool, out: &mut Vec<u8>) -> Result<(), Fault> {
        let ended = self.connection()?.receive_end_of_transport(now, in_record);
        self.settle(ended, out)
    }

    fn send(&mut self, now: Nanos, data: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let sent = self.connection()?.send(now, data);
        self.settle(sent, out)
    }

    fn send_early(&mut self, now: Nanos, data: &[u8], out: &mut Vec<u8>) -> Result<usize, Fault> {
        let sent = self.connection()?.send_early(now, data);
        self.settle(sent, out)
    }

    fn close(&mut self, now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        let closed = self.connection()?.close(now);
        self.settle(closed, out)
    }

    fn depart(&mut self, now: Nanos) {
        if let Some(connection) = &mut self.connection {
            connection.depart(now);
        }
    }

    fn facts(&self) -> Option<Facts> {
        self.connection.as_ref()?.facts()
    }

    fn alpn(&self) -> Option<Protocol> {
        self.connection.as_ref()?.alpn()
    }

    fn is_confirmed(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_confirmed)
    }

    fn awaited(&self) -> Option<&'static str> {
        self.connection.as_ref()?.waiting_for()
    }

    fn record(&self, log: &mut MessageLog) {
        let Some(connection) = &self.connection else { return };
        log.messages.extend(connection.events().iter().cloned());
        log.handshake_bytes.extend(connection.messages().iter().map(|bytes| bytes.to_vec()));
        log.omitted += connection.omitted_events();
    }

    fn end(&mut self, shared: &mut Self::Shared, how: End) {
        if let Some(mut connection) = self.connection.take() {
            let left = connection.take_sessions();
            self.sessions.keep(shared, connection.facts().as_ref(), left, how);
        }
    }
}
