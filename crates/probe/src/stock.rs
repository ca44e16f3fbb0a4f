//! The sessions that a series holds for its next connection.

use reprise_engine::{ExternalPsk, Offer, Session, Tls12Session, Tls13Ticket};
use reprise_trace::{Asked, KeyName, Kind, Nanos, Origin, Version};

/// A run of full handshakes takes no ticket, and is given one or two each time.
const MAX_TICKETS: usize = 16;

/// A session, and the connection that it came from.
#[derive(Clone, Debug)]
pub struct HeldSession {
    /// The session.
    pub session: Session,
    /// `None` where another process left it behind.
    pub origin: Option<Origin>,
}

/// What a connection offers, and the connection that it came from.
pub(crate) type Sourced = (Offer, Option<Origin>);

/// What one series of one version and kind may offer. TLS 1.3 tickets are used once each, newest first, and resumptions
/// chain; a TLS 1.2 session serves until it is replaced.
#[derive(Default)]
pub(crate) struct Stock {
    tickets: Vec<(Tls13Ticket, Option<Origin>)>,
    session: Option<(Tls12Session, Option<Origin>)>,
    /// What was agreed on by other means; it serves any number of connections.
    psk: Option<ExternalPsk>,
}

impl Stock {
    /// These, if there are any.
    pub(crate) fn of(sessions: Vec<HeldSession>) -> Option<Self> {
        let mut stock = Self::default();
        stock.keep(sessions);
        stock.holds_any().then_some(stock)
    }

    /// Nothing but an external PSK.
    pub(crate) fn of_psk(psk: ExternalPsk) -> Self {
        Self { psk: Some(psk), ..Self::default() }
    }

    /// Keeps what a connection left behind; of many tickets, the newest.
    pub(crate) fn keep(&mut self, sessions: impl IntoIterator<Item = HeldSession>) {
        for HeldSession { session, origin } in sessions {
            match session {
                Session::Tls13(ticket) => self.tickets.push((ticket, origin)),
                Session::Tls12(session) => self.session = Some((session, origin)),
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
        self.tickets.is_empty() && self.session.as_ref().is_some_and(|(session, _)| session.ticket.is_none())
    }

    /// Everything that was not used, the newest last.
    pub(crate) fn into_sessions(self) -> impl Iterator<Item = Session> {
        let tickets = self.tickets.into_iter().map(|(ticket, _)| Session::Tls13(ticket));
        self.session.map(|(session, _)| Session::Tls12(session)).into_iter().chain(tickets)
    }

    /// What the next connection of this series offers; `None` if it first takes a full handshake to have something. A ticket
    /// that does not allow `early` bytes before the handshake is offered without them.
    pub(crate) fn take_offer(&mut self, asked: Asked, now: Nanos, early: usize) -> Option<Sourced> {
        match (asked.kind, asked.tls) {
            (Kind::Full, _) => Some((full(asked), None)),
            (Kind::Ticket, Version::Tls13) => self.take_ticket(now).map(|(ticket, origin)| (Offer::Ticket(ticket), origin)),
            (Kind::Early, Version::Tls13) => {
                let (ticket, origin) = self.take_ticket(now)?;
                Some((if allows(&ticket, early) { Offer::Early(ticket) } else { Offer::Ticket(ticket) }, origin))
            }
            (Kind::Ticket, Version::Tls12) => {
                let (session, origin) = self.session(now).filter(|(session, _)| session.ticket.is_some())?;
                Some((Offer::SessionTicket(session), origin))
            }
            (Kind::Id, Version::Tls12) => {
                let (session, origin) = self.session(now).filter(|(session, _)| !session.session_id.is_empty())?;
                Some((Offer::SessionId(session), origin))
            }
            (Kind::Psk, Version::Tls13) => self.psk.clone().map(|psk| (Offer::External(psk), None)),
            _ => None,
        }
    }

    /// Whether there is a ticket that allows so many bytes of early data.
    pub(crate) fn allows_early(&self, bytes: usize) -> bool {
        self.tickets.iter().any(|(ticket, _)| allows(ticket, bytes))
    }

    /// The session of TLS 1.2, which serves until it is replaced.
    fn session(&self, now: Nanos) -> Option<(Tls12Session, Option<Origin>)> {
        self.session.clone().filter(|(session, _)| !session.is_expired(now))
    }

    fn take_ticket(&mut self, now: Nanos) -> Option<(Tls13Ticket, Option<Origin>)> {
        self.tickets.retain(|(ticket, _)| !ticket.is_expired(now));
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

/// How old the session is that is offered.
pub(crate) fn age(offer: &Offer, now: Nanos) -> Nanos {
    match offer {
        Offer::Ticket(ticket) | Offer::Early(ticket) => ticket.received.age(now),
        Offer::SessionId(session) | Offer::SessionTicket(session) => session.received.age(now),
        Offer::Full { .. } | Offer::External(_) => Nanos(0),
    }
}

/// The first bytes of the ticket that is offered.
pub(crate) fn key_name(offer: &Offer) -> Option<KeyName> {
    match offer {
        Offer::Ticket(ticket) | Offer::Early(ticket) => Some(KeyName::of(&ticket.ticket)),
        Offer::SessionTicket(session) => session.ticket.as_ref().map(|ticket| KeyName::of(&ticket.ticket)),
        Offer::SessionId(_) | Offer::Full { .. } | Offer::External(_) => None,
    }
}
