//! What one connection of a [`Connector`](crate::Connector) is to be, and what came of it.

use std::sync::Arc;

use reprise_connection::{Fault, MessageLog};
use reprise_engine::{Config, Offer};
use reprise_model::{Asked, Kind, Nanos, Observation, Offered, Origin, Purpose, Recording};

use crate::close_behavior::CloseBehavior;
use crate::held_session::{HeldSession, age, key_name};

/// What one connection is to be.
pub struct Trial {
    /// What may be negotiated.
    pub config: Arc<Config>,
    /// What is asked for.
    pub asked: Asked,
    /// What it is made for.
    pub purpose: Purpose,
    /// What it offers to begin from.
    pub offer: Offer,
    /// The connection that the session came from; `None` where none of this connector's did.
    pub origin: Option<Origin>,
    /// How it behaves beside.
    pub manner: CloseBehavior,
}

impl Trial {
    /// What is offered, as an observation holds it.
    pub(crate) fn offered(&self, now: Nanos) -> Option<Offered> {
        let kind = match &self.offer {
            Offer::Full { .. } => return None,
            Offer::SessionId(_) => Kind::Id,
            Offer::SessionTicket(_) | Offer::Ticket(_) => Kind::Ticket,
            Offer::Early(_) => Kind::Early,
            Offer::External(_) => Kind::Psk,
        };
        Some(Offered { kind, age: age(&self.offer, now), origin: self.origin, key_name: key_name(&self.offer) })
    }
}

/// What came of one connection.
pub struct Tried {
    /// Everything that was seen.
    pub observation: Observation,
    /// Why it did not complete, where it did not.
    pub fault: Option<Fault>,
    /// What the server gave for the next one.
    pub sessions: Vec<HeldSession>,
    /// Every message, where they are kept.
    pub messages: MessageLog,
    /// Every byte, where they are kept and TCP was established.
    pub recording: Option<Recording>,
    /// Whether it was too long to be kept to its end.
    pub recording_is_cut: bool,
    /// What the response says that the server is, where that is kept.
    pub software: Option<String>,
}
