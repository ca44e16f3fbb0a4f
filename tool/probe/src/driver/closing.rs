//! The end of a connection: what the server may still have to say, and a close_notify.

use std::time::{Duration, Instant};

use reprise_connection::Fault;
use reprise_model::{FaultName, Version};

use super::Driver;
use crate::connection_plan::CloseMethod;

/// After the response, how long a server that said it would close is waited for.
pub(crate) const CLOSE_WAIT: Duration = Duration::from_millis(500);
/// And how long beside four round trips, once it has let that pass: Envoy waits a second for its client to close first.
const CLOSE_WAIT_OF_LATE: Duration = Duration::from_millis(50);

impl Driver<'_> {
    /// Where nothing else is awaited: TLS 1.3 servers send their tickets after the handshake.
    pub(super) fn await_tickets(&mut self) -> Result<(), Fault> {
        let facts = self.attempt.facts();
        let is_tls13 = facts.is_some_and(|facts| facts.version == Version::Tls13);
        self.stream.set_deadline(Instant::now() + self.settings.ticket_wait);
        while is_tls13
            && !self.attempt.is_peer_closed()
            && self.attempt.facts().is_some_and(|facts| facts.tickets.count == 0)
        {
            match self.read() {
                Err(fault) if fault.name == FaultName::Timeout => break,
                other => other?,
            }
        }
        Ok(())
    }

    pub(super) fn end(&mut self) -> Result<(), Fault> {
        match self.behavior.close {
            CloseMethod::CloseNotify => self.close_notify(),
            CloseMethod::Fin => {
                self.stream.shut_down();
                // An end without close_notify is answered with an alert by some: what was wanted has come before it.
                let _ = self.drain();
                Ok(())
            }
            CloseMethod::Reset => {
                self.stream.reset();
                Ok(())
            }
            CloseMethod::StaysOpen => Ok(()),
        }
    }

    /// close_notify, and what the server still says to it. Without it an OpenSSL server forgets the session.
    fn close_notify(&mut self) -> Result<(), Fault> {
        let now = self.now();
        self.attempt.close(now)?;
        // The server may be gone already, and owes us nothing any more.
        self.abandon_outgoing();
        self.stream.shut_down();
        match self.drain() {
            // A server that went on in the clear once TLS had ended (Exim: 421) is past what is measured.
            Err(fault) if fault.name == FaultName::Malformed && self.settings.route.begins_in_the_clear() => Ok(()),
            drained => drained,
        }
    }

    /// Reads until the server has closed, for no longer than it may take a server that said it would, or than this one takes.
    pub(super) fn drain(&mut self) -> Result<(), Fault> {
        use FaultName::{ConnectionReset, SocketError, Timeout};
        self.stream.set_deadline(Instant::now() + self.settings.close_wait.min(self.settings.timeout));
        while !self.attempt.is_peer_closed() && !self.stream.has_ended() {
            match self.read() {
                Err(fault) if fault.name == Timeout => {
                    self.settings.close_wait = CLOSE_WAIT.min(CLOSE_WAIT_OF_LATE + 4 * self.settings.round_trip);
                    break;
                }
                Err(fault) if matches!(fault.name, ConnectionReset | SocketError) => break,
                other => other?,
            }
        }
        Ok(())
    }
}
