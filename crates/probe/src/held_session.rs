//! A session that is held, and what is known of one that is offered.

use reprise_engine::{Offer, Session};
use reprise_model::{KeyName, Nanos, Origin};

/// A session, and the connection that it came from.
#[derive(Clone, Debug)]
pub struct HeldSession {
    /// The session.
    pub session: Session,
    /// `None` where another process left it behind.
    pub origin: Option<Origin>,
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
