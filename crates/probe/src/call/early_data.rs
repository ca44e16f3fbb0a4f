//! A request that leaves with the ClientHello (RFC 8446 §2.3), and what becomes of it.

use reprise_trace::{EarlyData, Event, Failure, FailureClass, Kind, Outcome, What};

use super::{Call, Took};
use crate::application::{Exchange, Prepared};

/// What is said before the server has answered.
pub(crate) struct Early {
    /// It is said by this protocol, the one of the connection that gave the ticket (RFC 8446 §4.2.10).
    pub(crate) alpn: Option<String>,
    /// Made ready like all that is said.
    pub(crate) application: Prepared,
}

impl Call<'_> {
    /// Handshake and request in one flight. `None` where the server skipped the request: then the handshake alone is done.
    pub(super) fn exchange_early(&mut self, exchange: &mut dyn Exchange) -> Result<Option<Took>, Failure> {
        let request = exchange.ask()?;
        let hello = self.now();
        let mut flight = self.connection.take_outgoing(hello);
        self.connection.send_early(hello, &request).map_err(|error| self.tls_failure(&error))?;
        let sent = self.now();
        flight.extend(self.connection.take_outgoing(sent));
        self.write(FailureClass::Tls, "ServerHello", &flight)?;
        let arrived = self.await_readiness()?;
        if self.connection.outcome().and_then(|outcome| outcome.early_data) == Some(EarlyData::Accepted) {
            // Data could be sent as soon as the ClientHello was: what the server still says is the wait for its answer.
            self.phases.tls = Some(sent - hello);
            self.flush(FailureClass::Request)?;
            return self.await_response(exchange, sent, arrived).map(Some);
        }
        self.phases.tls = Some(self.clock_since(hello));
        Ok(None)
    }
}

/// How many of the events were over when application data could first be sent: with early data that was accepted, those
/// before its first record; otherwise `ready`.
pub(super) fn before_data(outcome: &Outcome, events: &[Event], ready: usize) -> usize {
    match outcome.kind {
        Kind::Early => events.iter().position(|event| event.what == What::ApplicationData).unwrap_or(ready),
        _ => ready,
    }
}
