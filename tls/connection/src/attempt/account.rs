//! The state of an attempt: how far it has come, and what was observed.

use reprise_model::{Answer, Bytes, EarlyData, Ended, Facts, FailureClass, FaultName, Kind, Nanos, Observation, Phases};

use super::{Attempt, Stage};
use crate::endpoint::{Endpoint, MessageLog};
use crate::exchange::Exchange;
use crate::fault::{Detail, Fault};

impl<E: Endpoint, X: Exchange> Attempt<E, X> {
    /// Whether all that was wanted has come.
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Open && self.seen.answered >= self.wanted && self.endpoint.is_confirmed()
    }

    /// Whether it still speaks in the clear.
    pub fn is_before_tls(&self) -> bool {
        self.stage == Stage::Prologue
    }

    /// Whether every request was answered, or none was to be sent; the server may have to show yet that it has finished.
    pub fn is_answered(&self) -> bool {
        self.stage == Stage::Open && self.seen.answered >= self.wanted
    }

    /// Whether the server has shown that it has finished.
    pub fn is_confirmed(&self) -> bool {
        self.endpoint.is_confirmed()
    }

    /// Whether the peer has closed.
    pub fn is_peer_closed(&self) -> bool {
        self.seen.ended != Ended::Open
    }

    /// Whether the connection may carry another request.
    pub fn keeps_alive(&self) -> bool {
        self.exchange.keeps_alive() && !self.is_peer_closed()
    }

    /// What was negotiated so far.
    pub fn facts(&self) -> Option<Facts> {
        self.endpoint.facts()
    }

    /// Of all responses, each status with its count.
    pub fn statuses(&self) -> &[(u16, u64)] {
        &self.statuses
    }

    /// The first response.
    pub fn answer(&self) -> Option<Answer> {
        self.seen.answer
    }

    /// What the response says that the server is, where that is kept.
    pub fn software(&self) -> Option<String> {
        self.exchange.software()
    }

    /// The time that the response says it was made at, in seconds since 1970, where the software is kept.
    pub fn date(&self) -> Option<u64> {
        self.exchange.date()
    }

    /// A number by which the body of the response is known, where that is kept.
    pub fn content(&self) -> Option<u64> {
        self.exchange.content()
    }

    /// When it was begun, or began to connect.
    pub fn begun(&self) -> Nanos {
        self.clock.begun()
    }

    /// The phases that are over.
    pub fn phases(&self) -> Phases {
        self.clock.phases(self.wanted > 0, self.early_was_accepted())
    }

    /// Writes into an observation what the attempt knows.
    pub fn describe(&self, observation: &mut Observation) {
        let resolve = observation.phases.resolve;
        let phases = self.phases();
        observation.phases =
            Phases { resolve, total: phases.total.map(|total| total + resolve.unwrap_or_default()), ..phases };
        observation.sent = Bytes(self.seen.sent);
        observation.received = Bytes(self.seen.received);
        observation.first_flight = Bytes(self.seen.first_flight);
        observation.round_trips = self.round_trips();
        observation.answer = self.seen.answer;
        observation.http_status = self.seen.answer.and_then(|answer| answer.status);
        observation.next_request = self.clock.next_request();
        observation.chosen = self.facts().map(|facts| facts.version);
        observation.heard_tls = self.seen.spoke_tls;
        observation.accepted = self.facts().is_some_and(|facts| facts.kind != Kind::Full);
        observation.ended = self.seen.ended;
    }

    /// Adds every message so far to a log.
    pub fn record(&self, log: &mut MessageLog) {
        self.endpoint.record(log);
    }

    /// The fault of a connection that took too long: it names what was awaited.
    pub fn timed_out(&self) -> Fault {
        if self.is_answered() && !self.endpoint.is_confirmed() {
            return Fault::unconfirmed();
        }
        let (class, awaited) = self.awaited();
        let name = if self.clock.is_connected() { FaultName::Timeout } else { FaultName::ConnectTimeout };
        Fault::new(name).at(class).with(Detail::Awaited(awaited))
    }

    /// Renames a timeout without a response, where accepted early data carried the request: early data is the cause.
    pub fn blame_early_data(&self, fault: Fault) -> Fault {
        let is_silence = (fault.name, fault.class) == (FaultName::Timeout, FailureClass::Request);
        let is_unanswered = is_silence && self.phases().wait.is_none() && self.early_was_accepted();
        Fault { name: if is_unanswered { FaultName::EarlyDataUnanswered } else { fault.name }, ..fault }
    }

    /// What is awaited now, and at which stage.
    pub fn awaited(&self) -> (FailureClass, &'static str) {
        match (self.stage, &self.prologue) {
            (Stage::Idle, _) => (FailureClass::Connect, "connection"),
            (Stage::Prologue, Some(prologue)) => prologue.awaited(),
            (Stage::Open, _) => (FailureClass::Request, "response"),
            _ => (FailureClass::Tls, self.endpoint.awaited().unwrap_or("response")),
        }
    }

    fn round_trips(&self) -> u64 {
        let before = self.prologue.as_ref().map_or(0, |prologue| prologue.round_trips());
        before + if self.early_was_accepted() { 0 } else { self.seen.round_trips }
    }

    pub(super) fn early_was_accepted(&self) -> bool {
        self.early_alpn.is_some() && self.endpoint.facts().is_some_and(|facts| facts.early_data == Some(EarlyData::Accepted))
    }
}
