//! What one connection is to be, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use reprise_connection::{Fault, MessageLog};
use reprise_engine::{Config, Offer, Session};
use reprise_model::{Asked, Kind, Nanos, Observation, Offered, Origin, Purpose, Recording, TicketKeyName};

use crate::failed::FailedConnection;

/// What one connection is to be.
#[derive(Clone)]
pub(crate) struct ConnectionPlan {
    /// What may be negotiated.
    pub(crate) config: Arc<Config>,
    /// What is asked for.
    pub(crate) asked: Asked,
    /// What it is made for.
    pub(crate) purpose: Purpose,
    /// What it offers to begin from.
    pub(crate) offer: SessionOffer,
    /// How it sends its first bytes and how it closes.
    pub(crate) behavior: CloseBehavior,
}

impl ConnectionPlan {
    /// A counted connection that behaves as well-behaved clients do.
    pub(crate) fn sample(config: &Arc<Config>, asked: Asked, offer: SessionOffer) -> Self {
        Self { config: config.clone(), asked, purpose: Purpose::Sample, offer, behavior: CloseBehavior::default() }
    }

    /// A full handshake that shows what the target speaks.
    pub(crate) fn discovery(config: &Arc<Config>, asked: Asked) -> Self {
        Self { purpose: Purpose::Discovery, ..Self::sample(config, asked, SessionOffer::nothing(asked)) }
    }
}

/// How a connection behaves beside what it negotiates. By default as well-behaved clients do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CloseBehavior {
    /// How it ends.
    pub(crate) close: CloseMethod,
    /// How many bytes of the ClientHello go in a segment of their own, before the rest; `None` sends all at once.
    pub(crate) first_segment: Option<usize>,
    /// Whether what comes is acknowledged at once, so that a server that waits for acknowledgements does not wait (Linux).
    pub(crate) acknowledges_at_once: bool,
    /// Whether the same is asked once more, where the server keeps the connection open.
    pub(crate) asks_again: bool,
    /// How long the client's Finished is held back at most where early data was accepted: until a response has begun without it.
    pub(crate) holds_finished: Option<Duration>,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CloseMethod {
    /// With a close_notify, and with patience for the server's.
    #[default]
    CloseNotify,
    /// With a FIN alone.
    Fin,
    /// With a reset.
    Reset,
    /// Not yet: nothing is asked, and it stays open beside those that follow.
    StaysOpen,
}

/// A session, and the connection that it came from.
#[derive(Clone, Debug)]
pub(crate) struct HeldSession {
    pub(crate) session: Session,
    /// `None` where another process left it behind.
    pub(crate) origin: Option<Origin>,
}

/// What a connection offers to begin from.
#[derive(Clone)]
pub(crate) struct SessionOffer {
    pub(crate) offer: Offer,
    /// The session in it; `None` for a full handshake and for an external PSK.
    pub(crate) held: Option<HeldSession>,
}

impl SessionOffer {
    /// Nothing: a full handshake, which leaves behind what a later connection of this kind needs. A server that is asked for a
    /// ticket gives no ID.
    pub(crate) fn nothing(asked: Asked) -> Self {
        Self { offer: Offer::Full { session_ticket: asked.kind != Kind::Id }, held: None }
    }

    /// As an observation holds it.
    pub(crate) fn record(&self, now: Nanos) -> Option<Offered> {
        let (kind, ticket) = match &self.offer {
            Offer::Full { .. } => return None,
            Offer::SessionId(_) => (Kind::Id, None),
            Offer::SessionTicket(session) => (Kind::Ticket, session.ticket.as_ref().map(|ticket| &ticket.ticket)),
            Offer::Ticket(ticket) => (Kind::Ticket, Some(&ticket.ticket)),
            Offer::Early(ticket) => (Kind::Early, Some(&ticket.ticket)),
            Offer::External(_) => (Kind::Psk, None),
        };
        let age = self.held.as_ref().map(|held| held.session.age(now)).unwrap_or_default();
        let origin = self.held.as_ref().and_then(|held| held.origin);
        let leaf = self.held.as_ref().and_then(|held| held.session.leaf());
        Some(Offered { kind, age, origin, key_name: ticket.map(|ticket| TicketKeyName::of(ticket)), leaf })
    }
}

/// What came of one connection.
pub(crate) struct ConnectionRecord {
    /// Everything that was seen.
    pub(crate) observation: Observation,
    /// Why it did not complete, where it did not.
    pub(crate) fault: Option<Fault>,
    /// The session that it offered.
    pub(crate) offered: Option<HeldSession>,
    /// What the server gave for the next one.
    pub(crate) sessions: Vec<HeldSession>,
    /// Every message, where they are kept.
    pub(crate) messages: MessageLog,
    /// Every byte, where they are kept and TCP was established.
    pub(crate) recording: Option<Recording>,
    /// Whether it was too long to be kept to its end.
    pub(crate) recording_is_cut: bool,
    /// What the response says that the server is, where that is kept.
    pub(crate) software: Option<String>,
    /// The time that the response says it was made at, in seconds since 1970, where software is kept.
    pub(crate) date: Option<u64>,
    /// A number by which the body of the response is known, where that is kept.
    pub(crate) content: Option<u64>,
}

impl ConnectionRecord {
    /// Of a connection of which nothing was seen yet.
    pub(crate) fn begun(observation: Observation) -> Self {
        Self {
            observation,
            fault: None,
            offered: None,
            sessions: Vec::new(),
            messages: MessageLog::default(),
            recording: None,
            recording_is_cut: false,
            software: None,
            date: None,
            content: None,
        }
    }

    /// What was seen, or why nothing was.
    pub(crate) fn completed(self) -> Result<Observation, FailedConnection> {
        match self.fault {
            None => Ok(self.observation),
            Some(fault) => Err(FailedConnection { observation: Some(Box::new(self.observation)), ..fault.into() }),
        }
    }
}
