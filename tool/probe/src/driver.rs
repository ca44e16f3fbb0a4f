//! Moves the bytes of one attempt over a blocking socket, and reads the clock for it.

pub(crate) mod closing;

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use reprise_connection::exchange::{ConnectionReuse, Negotiated};
use reprise_connection::{Attempt, EngineClient, Fault, Input, Progress};
use reprise_engine::Session;
use reprise_model::{EarlyData, FailureClass, FaultName, Nanos};

use crate::connection_plan::{CloseBehavior, CloseMethod};
use crate::settings::Settings;
use crate::socket::Stream;

/// One connection of the engine, with whatever is asked over it.
pub(crate) type Connection = Attempt<EngineClient, Negotiated>;

/// Moves the bytes of one attempt, and reads the clock for it.
pub(crate) struct Driver<'c> {
    pub(crate) settings: &'c mut Settings,
    pub(crate) buffer: &'c mut Vec<u8>,
    pub(crate) attempt: &'c mut Connection,
    pub(crate) sessions: &'c mut Vec<Session>,
    pub(crate) stream: Stream,
    pub(crate) behavior: CloseBehavior,
    /// As an observation holds it.
    pub(crate) answered_before_finished: Option<bool>,
}

impl Driver<'_> {
    /// Sees the attempt from the established transport to its end.
    pub(crate) fn run(&mut self, connected: Nanos, client: Option<SocketAddr>) -> Result<(), Fault> {
        self.stream.prepare().map_err(|error| Fault::of_transport(FailureClass::Connect, "the socket", &error))?;
        self.attempt.connected(connected, || client)?;
        self.proceed_until(Connection::is_answered)?;
        if self.settings.application.is_silent() || self.behavior.close == CloseMethod::StaysOpen {
            self.await_tickets()?;
        } else {
            let asks_again = self.behavior.asks_again || self.settings.reuse == ConnectionReuse::KeepAlive;
            if asks_again && self.attempt.keeps_alive() {
                self.ask_again()?;
            }
            if !self.attempt.keeps_alive() {
                // The server closes, so whatever it still has to say comes before: tickets too.
                self.drain()?;
            }
        }
        // Who has closed by now did not do so because we close.
        let is_silent = !self.attempt.is_peer_closed();
        self.end()?;
        match (self.attempt.is_confirmed(), is_silent) {
            (true, _) => Ok(()),
            (false, true) => Err(Fault::unconfirmed()),
            (false, false) => Err(Fault::new(FaultName::Unconfirmed)),
        }
    }

    /// The same request once more. A server that has closed meanwhile leaves the first response as whole as it was.
    fn ask_again(&mut self) -> Result<(), Fault> {
        use FaultName::{ConnectionReset, NoResponse, SocketError};
        let now = self.now();
        self.attempt.ask_again(now)?;
        match self.proceed_until(Connection::is_answered) {
            Err(fault) if matches!(fault.name, ConnectionReset | NoResponse | SocketError) => {
                if !self.attempt.is_peer_closed() {
                    self.attempt.receive_reset();
                }
                Ok(())
            }
            answered => answered,
        }
    }

    /// Writes and reads until the attempt is so far. What was reached stands, though the server takes nothing more.
    fn proceed_until(&mut self, is_reached: fn(&Connection) -> bool) -> Result<(), Fault> {
        loop {
            match self.flush() {
                _ if is_reached(self.attempt) => return Ok(()),
                flushed => flushed?,
            }
            self.read()?;
        }
    }

    /// Reads once and hands it to the attempt.
    fn read(&mut self) -> Result<(), Fault> {
        let mut buffer = std::mem::take(self.buffer);
        let taken = self.read_into(&mut buffer);
        *self.buffer = buffer;
        taken
    }

    fn read_into(&mut self, buffer: &mut [u8]) -> Result<(), Fault> {
        let (class, awaited) = self.attempt.awaited();
        if self.behavior.acknowledges_at_once {
            self.stream.acknowledge_at_once();
        }
        let count = match self.stream.read(buffer) {
            Ok(count) => count,
            Err(error) => {
                let fault = Fault::of_transport(class, awaited, &error);
                if fault.name == FaultName::ConnectionReset {
                    self.attempt.receive_reset();
                }
                return Err(fault);
            }
        };
        let mut now = self.now();
        let mut input = Input::new(buffer.get_mut(..count).unwrap_or_default(), now);
        let taken = loop {
            if count == 0 {
                break self.attempt.receive_end(now);
            }
            match self.attempt.receive(self.sessions, &mut input, now) {
                Ok(Progress::Boundary) => {
                    if self.attempt.is_before_tls() {
                        // What ends one protocol in the clear leaves before the next begins.
                        self.abandon_outgoing();
                    }
                    now = self.settings.clock.now();
                }
                // What comes after it is taken too: tickets, a close_notify.
                Ok(Progress::Done) => {}
                Ok(Progress::Waiting) => break Ok(()),
                Err(fault) => break Err(fault),
            }
        };
        if taken.is_err() {
            // The alert that says why.
            self.abandon_outgoing();
        }
        taken
    }

    fn flush(&mut self) -> Result<(), Fault> {
        if !self.attempt.has_outgoing() {
            return Ok(());
        }
        let is_accepted = self.attempt.facts().is_some_and(|facts| facts.early_data == Some(EarlyData::Accepted));
        if let Some(time) = self.behavior.holds_finished.take_if(|_| is_accepted) {
            self.hold_finished(time)?;
        }
        let (class, awaited) = self.attempt.awaited();
        let now = self.now();
        let outgoing = self.attempt.outgoing(now);
        let count = outgoing.len();
        if let Err(error) = self.stream.write_in_two(outgoing, self.behavior.first_segment.take()) {
            if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) {
                // What a server said before it closed may still be there to be read: an alert, a whole response.
                while !self.stream.has_ended() {
                    match self.read() {
                        Ok(()) => {}
                        Err(fault) if fault.engine_error().is_some() => return Err(fault),
                        Err(_) => break,
                    }
                }
            }
            return Err(Fault::of_transport(class, awaited, &error));
        }
        self.attempt.sent(count);
        Ok(())
    }

    /// Lets so much time pass, or less if a response begins: a server need not wait for what is held back (RFC 9846 §2.3).
    fn hold_finished(&mut self, time: Duration) -> Result<(), Fault> {
        self.stream.set_deadline(Instant::now() + time);
        while self.attempt.phases().wait.is_none() && !self.stream.has_ended() {
            match self.read() {
                Err(fault) if fault.name == FaultName::Timeout => break,
                read => read?,
            }
        }
        self.answered_before_finished = Some(self.attempt.phases().wait.is_some());
        self.stream.set_deadline(Instant::now() + self.settings.timeout);
        Ok(())
    }

    /// Writes what is there, whether anybody takes it or not.
    fn abandon_outgoing(&mut self) {
        let now = self.now();
        let outgoing = self.attempt.outgoing(now);
        let count = outgoing.len();
        if self.stream.write_all(outgoing).is_ok() {
            self.attempt.sent(count);
        }
    }

    fn now(&self) -> Nanos {
        self.settings.clock.now()
    }
}
