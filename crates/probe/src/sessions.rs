//! The sessions that a run holds for its next connection.

use reprise_engine::{Offer, Session, Tls12Session, Tls13Ticket};
use reprise_trace::{Asked, Kind, Nanos, Version};

/// What one run of one version and kind may offer. TLS 1.3 tickets are used once each, newest first, and resumptions
/// chain; a TLS 1.2 session serves until it is replaced.
#[derive(Default)]
pub(crate) struct Sessions {
    tickets: Vec<Tls13Ticket>,
    session: Option<Tls12Session>,
}

impl Sessions {
    /// Keeps what a connection left behind.
    pub(crate) fn keep(&mut self, sessions: Vec<Session>) {
        for session in sessions {
            match session {
                Session::Tls13(ticket) => self.tickets.push(ticket),
                Session::Tls12(session) => self.session = Some(session),
            }
        }
    }

    /// What the next connection of this run offers; `None` if it first takes a full handshake to have something.
    pub(crate) fn take_offer(&mut self, asked: Asked, now: Nanos) -> Option<Offer> {
        match (asked.kind, asked.tls) {
            (Kind::Full, _) => Some(full(asked)),
            (Kind::Ticket, Version::Tls13) => {
                self.tickets.retain(|ticket| !ticket.is_expired(now));
                self.tickets.pop().map(Offer::Ticket)
            }
            (Kind::Ticket, Version::Tls12) => {
                self.session.clone().filter(|session| session.ticket.is_some()).map(Offer::SessionTicket)
            }
            (Kind::Id, Version::Tls12) => {
                self.session.clone().filter(|session| !session.session_id.is_empty()).map(Offer::SessionId)
            }
            _ => None,
        }
    }

    /// A session that was refused is not worth offering again.
    pub(crate) fn forget_refused(&mut self) {
        self.session = None;
    }
}

/// A full handshake that leaves behind what a run of this kind needs: a server that is asked for a ticket gives no ID.
pub(crate) fn full(asked: Asked) -> Offer {
    Offer::Full { session_ticket: asked.kind != Kind::Id }
}
