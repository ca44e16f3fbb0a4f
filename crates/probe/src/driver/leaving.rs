//! The end of a connection: what the server may still have to say, and a close_notify.

use std::time::{Duration, Instant};

use reprise_attempt::Fault;
use reprise_trace::{FaultName, Version};

use super::Driver;
use crate::manner::Leaving;

/// After the response, how long a server that said it would close is waited for.
const CLOSE_WAIT: Duration = Duration::from_millis(500);

impl Driver<'_> {
    /// Where nothing else is awaited: TLS 1.3 servers send their tickets after the handshake.
    pub(super) fn await_tickets(&mut self) -> Result<(), Fault> {
        let facts = self.attempt.facts();
        let is_tls13 = facts.is_some_and(|facts| facts.version == Version::Tls13);
        self.stream.set_deadline(Instant::now() + self.connector.ticket_wait);
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

    pub(super) fn leave(&mut self) -> Result<(), Fault> {
        match self.manner.leaving {
            Leaving::CloseNotify => self.close(),
            Leaving::Fin => {
                self.stream.shut_down();
                // An end without close_notify is answered with an alert by some: what was wanted has come before it.
                let _ = self.drain(Instant::now() + CLOSE_WAIT.min(self.connector.timeout));
                Ok(())
            }
            Leaving::Reset => {
                self.stream.reset();
                Ok(())
            }
        }
    }

    /// close_notify, and what the server still says to it. Without it an OpenSSL server forgets the session.
    fn close(&mut self) -> Result<(), Fault> {
        let now = self.now();
        self.attempt.close(now)?;
        // The server may be gone already, and owes us nothing any more.
        self.abandon_outgoing();
        self.stream.shut_down();
        match self.drain(Instant::now() + CLOSE_WAIT.min(self.connector.timeout)) {
            // A server that went on in the clear once TLS had ended (Exim: 421) is past what is measured.
            Err(fault) if fault.name == FaultName::Malformed && self.connector.route.begins_in_the_clear() => Ok(()),
            drained => drained,
        }
    }

    /// Reads until the server has closed, for no longer than it may take a server that said it would.
    pub(super) fn drain_what_comes(&mut self) -> Result<(), Fault> {
        self.drain(Instant::now() + CLOSE_WAIT)
    }

    /// Reads until the server has closed or `until` has come.
    fn drain(&mut self, until: Instant) -> Result<(), Fault> {
        use FaultName::{ConnectionReset, SocketError, Timeout};
        self.stream.set_deadline(until);
        while !self.attempt.is_peer_closed() && !self.stream.has_ended() {
            match self.read() {
                Err(fault) if matches!(fault.name, Timeout | ConnectionReset | SocketError) => break,
                other => other?,
            }
        }
        Ok(())
    }
}
