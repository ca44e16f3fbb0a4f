//! The sessions that one thread holds for one server name.

use reprise_engine::{Offer, Session};
use reprise_model::{Kind, Nanos};

/// The most tickets of TLS 1.3 that are held for each that was asked for: a server may give two for each that is used.
const SPARE: usize = 4;

/// The sessions that were made under one name, which are offered under no other: a server that serves several may keep their
/// sessions apart (RFC 9846 §4.7.1, RFC 6066 §3).
pub(crate) struct Sessions {
    id: Pool,
    ticket: Pool,
}

/// The sessions of one kind.
struct Pool {
    /// Whether connections of this kind are asked for.
    is_wanted: bool,
    /// How many to hold before any is used.
    target: usize,
    /// Whether one may be used more than once.
    reuse: bool,
    held: Vec<Session>,
    next: usize,
}

impl Sessions {
    /// `target` for each of the kinds that are asked for. `reuse_tickets`: whether a ticket may be used more than once, as an ID
    /// always may.
    pub(crate) fn new(target: usize, wants: &[Kind], reuse_tickets: bool) -> Self {
        let pool =
            |kind, reuse| Pool { is_wanted: wants.contains(&kind), target: target.max(1), reuse, held: Vec::new(), next: 0 };
        Self { id: pool(Kind::Id, true), ticket: pool(Kind::Ticket, reuse_tickets) }
    }

    /// What a connection of this kind offers: without a session there must be a full handshake first.
    pub(crate) fn offer(&mut self, kind: Kind, now: Nanos) -> Offer {
        let session = match kind {
            Kind::Id => self.id.take(now),
            Kind::Ticket => self.ticket.take(now),
            _ => None,
        };
        match (session, kind) {
            (Some(Session::Tls13(ticket)), _) => Offer::Ticket(ticket),
            (Some(Session::Tls12(session)), Kind::Id) => Offer::SessionId(session),
            (Some(Session::Tls12(session)), _) => Offer::SessionTicket(session),
            (None, kind) => Offer::Full { session_ticket: kind != Kind::Id },
        }
    }

    /// Whether what was offered may be offered again.
    pub(crate) fn reuses(&self, kind: Kind) -> bool {
        match kind {
            Kind::Id => self.id.reuse,
            _ => self.ticket.reuse,
        }
    }

    /// Keeps a new session, if connections of its kind are asked for.
    pub(crate) fn keep(&mut self, session: Session) {
        if is_of_id(&session) { self.id.keep(session) } else { self.ticket.keep(session) }
    }

    /// What was refused is not offered again: a session that was given instead takes its place and its turn.
    pub(crate) fn replace(&mut self, refused: &[u8], instead: Option<Session>) {
        let is_of_id = instead.as_ref().map(is_of_id);
        let mut instead = instead;
        for (pool, is_its_own) in [(&mut self.id, is_of_id == Some(true)), (&mut self.ticket, is_of_id == Some(false))] {
            while let Some(place) = pool.held.iter().position(|held| name_of(held) == refused) {
                match (pool.held.get_mut(place), instead.take_if(|_| is_its_own)) {
                    (Some(held), Some(session)) => *held = session,
                    _ => drop(pool.held.swap_remove(place)),
                }
            }
        }
        if let Some(session) = instead {
            self.keep(session);
        }
    }
}

impl Pool {
    /// Sessions that are used once go newest first; the others in turns, each as a copy, once there are as many as are to be
    /// held.
    fn take(&mut self, now: Nanos) -> Option<Session> {
        if !self.reuse {
            return std::iter::from_fn(|| self.held.pop()).find(|session| !session.is_expired(now));
        }
        while self.held.len() >= self.target {
            self.next = (self.next + 1) % self.held.len();
            let session = self.held.get(self.next)?;
            if !session.is_expired(now) {
                return Some(session.clone());
            }
            self.held.swap_remove(self.next);
        }
        None
    }

    /// Where there is no more room, the first makes some.
    fn keep(&mut self, session: Session) {
        let most = if self.reuse { self.target } else { self.target.saturating_mul(SPARE) };
        if !self.is_wanted {
            return;
        }
        if self.held.len() < most {
            self.held.push(session);
        } else if let Some(first) = self.held.first_mut() {
            *first = session;
        }
    }
}

/// Whether it is resumed by its ID.
fn is_of_id(session: &Session) -> bool {
    matches!(session, Session::Tls12(tls12) if tls12.ticket.is_none())
}

/// The ticket or the ID.
pub(crate) fn name_of(session: &Session) -> &[u8] {
    match session {
        Session::Tls13(ticket) => &ticket.ticket,
        Session::Tls12(session) => session.ticket.as_ref().map_or(&session.session_id, |ticket| &ticket.ticket),
    }
}

/// The ticket or the ID that is offered.
pub(crate) fn offered_name(offer: &Offer) -> Option<&[u8]> {
    match offer {
        Offer::Ticket(ticket) | Offer::Early(ticket) => Some(&ticket.ticket),
        Offer::SessionId(session) => Some(&session.session_id),
        Offer::SessionTicket(session) => session.ticket.as_ref().map(|ticket| ticket.ticket.as_slice()),
        Offer::Full { .. } | Offer::External(_) => None,
    }
}
