//! The sessions that a run holds for its next connection.

use reprise_engine::{ExternalPsk, Offer, Session, Tls12Session, Tls13Ticket};
use reprise_trace::{Asked, Kind, Nanos, Version};

/// A run of full handshakes takes no ticket, and is given one or two each time.
const MAX_TICKETS: usize = 16;

/// What one run of one version and kind may offer. TLS 1.3 tickets are used once each, newest first, and resumptions
/// chain; a TLS 1.2 session serves until it is replaced.
#[derive(Default)]
pub(crate) struct Sessions {
    tickets: Vec<Tls13Ticket>,
    session: Option<Tls12Session>,
    /// What was agreed on by other means; it serves any number of connections.
    psk: Option<ExternalPsk>,
}

impl Sessions {
    /// Nothing but an external PSK.
    pub(crate) fn of_psk(psk: ExternalPsk) -> Self {
        Self { psk: Some(psk), ..Self::default() }
    }

    /// Keeps what a connection left behind; of many tickets, the newest.
    pub(crate) fn keep(&mut self, sessions: Vec<Session>) {
        for session in sessions {
            match session {
                Session::Tls13(ticket) => self.tickets.push(ticket),
                Session::Tls12(session) => self.session = Some(session),
            }
        }
        let too_many = self.tickets.len().saturating_sub(MAX_TICKETS);
        self.tickets.drain(..too_many);
    }

    /// Whether there is a session, of whatever version.
    pub(crate) fn holds_any(&self) -> bool {
        self.session.is_some() || !self.tickets.is_empty()
    }

    /// Whether what there is can be resumed by session ID and not by ticket.
    pub(crate) fn holds_id_alone(&self) -> bool {
        self.tickets.is_empty() && self.session.as_ref().is_some_and(|session| session.ticket.is_none())
    }

    /// Everything that was not used, the newest last.
    pub(crate) fn into_sessions(self) -> impl Iterator<Item = Session> {
        self.session.map(Session::Tls12).into_iter().chain(self.tickets.into_iter().map(Session::Tls13))
    }

    /// What the next connection of this run offers; `None` if it first takes a full handshake to have something. A ticket
    /// that does not allow `early` bytes before the handshake is offered without them.
    pub(crate) fn take_offer(&mut self, asked: Asked, now: Nanos, early: usize) -> Option<Offer> {
        match (asked.kind, asked.tls) {
            (Kind::Full, _) => Some(full(asked)),
            (Kind::Ticket, Version::Tls13) => self.take_ticket(now).map(Offer::Ticket),
            (Kind::Early, Version::Tls13) => {
                let ticket = self.take_ticket(now)?;
                Some(if allows(&ticket, early) { Offer::Early(ticket) } else { Offer::Ticket(ticket) })
            }
            (Kind::Ticket, Version::Tls12) => {
                self.session.clone().filter(|session| session.ticket.is_some()).map(Offer::SessionTicket)
            }
            (Kind::Id, Version::Tls12) => {
                self.session.clone().filter(|session| !session.session_id.is_empty()).map(Offer::SessionId)
            }
            (Kind::Psk, Version::Tls13) => self.psk.clone().map(Offer::External),
            _ => None,
        }
    }

    /// Whether there is a ticket that allows so many bytes of early data.
    pub(crate) fn allows_early(&self, bytes: usize) -> bool {
        self.tickets.iter().any(|ticket| allows(ticket, bytes))
    }

    fn take_ticket(&mut self, now: Nanos) -> Option<Tls13Ticket> {
        self.tickets.retain(|ticket| !ticket.is_expired(now));
        self.tickets.pop()
    }

    /// A session that was refused is not worth offering again.
    pub(crate) fn forget_refused(&mut self) {
        self.session = None;
    }
}

/// The version that a session is of.
pub(crate) fn version_of(session: &Session) -> Version {
    match session {
        Session::Tls12(_) => Version::Tls12,
        Session::Tls13(_) => Version::Tls13,
    }
}

/// Whether it can be resumed by ticket.
pub(crate) fn has_ticket(session: &Session) -> bool {
    match session {
        Session::Tls12(session) => session.ticket.is_some(),
        Session::Tls13(_) => true,
    }
}

fn allows(ticket: &Tls13Ticket, bytes: usize) -> bool {
    ticket
        .max_early_data
        .is_some_and(|allowed| allowed > 0 && usize::try_from(allowed).is_ok_and(|allowed| bytes <= allowed))
}

/// A full handshake that leaves behind what a run of this kind needs: a server that is asked for a ticket gives no ID.
pub(crate) fn full(asked: Asked) -> Offer {
    Offer::Full { session_ticket: asked.kind != Kind::Id }
}
