//! The sessions that a series holds for its next connection.

use reprise_engine::{ExternalPsk, Offer, Session, Tls13Ticket};
use reprise_model::{Asked, Kind, Nanos, Version};

use crate::connection_plan::{ConnectionPlan, ConnectionRecord, HeldSession, SessionOffer};
use crate::connector::Connector;

/// A run of full handshakes takes no session, and is given one or two each time.
const MOST: usize = 16;

/// What one series of one version and kind may offer, the newest first. A TLS 1.3 ticket serves once, and resumptions chain; a
/// TLS 1.2 session serves until it is refused or replaced.
///
/// As long as the server refuses, older ones are tried too: behind a balancer it is the node that counts, and how many
/// connections ago a session came from there.
#[derive(Clone, Default)]
pub(crate) struct SessionCache {
    sessions: Vec<HeldSession>,
    /// What was agreed on by other means; it serves any number of connections.
    psk: Option<ExternalPsk>,
    /// Refusals since a session was last accepted.
    refusals: usize,
}

impl SessionCache {
    /// These sessions; of many, the newest.
    pub(crate) fn of(sessions: impl IntoIterator<Item = HeldSession>) -> Self {
        let mut cache = Self::default();
        cache.keep(sessions);
        cache
    }

    /// Offers this external PSK wherever one is asked for.
    pub(crate) fn set_psk(&mut self, psk: Option<&ExternalPsk>) {
        self.psk = psk.cloned();
    }

    /// Makes a connection, keeps what it left behind, and learns from what came of it.
    pub(crate) fn connect(&mut self, connector: &mut Connector, plan: ConnectionPlan) -> ConnectionRecord {
        let mut record = connector.connect(plan);
        self.settle(&mut record);
        record
    }

    /// Keeps what a connection left behind; of many, the newest.
    pub(crate) fn keep(&mut self, sessions: impl IntoIterator<Item = HeldSession>) {
        self.sessions.extend(sessions);
        let too_many = self.sessions.len().saturating_sub(MOST);
        self.sessions.drain(..too_many);
    }

    /// Keeps what a connection left behind, and learns from what came of it.
    pub(crate) fn settle(&mut self, record: &mut ConnectionRecord) {
        let is_refusal = record.observation.is_refusal();
        if is_refusal {
            self.refusals += 1;
        } else if record.observation.kind().is_some_and(|kind| kind != Kind::Full) {
            self.refusals = 0;
        }
        // A session that was refused is not worth offering again, nor one that failed once it was accepted: the server forgets it
        // (RFC 5246 §7.2.2).
        let is_over = is_refusal || record.observation.is_broken_resumption();
        let offered = record.offered.take();
        let serves_on = offered.filter(|held| !is_over && version_of(&held.session) == Version::Tls12);
        self.keep(serves_on.into_iter().chain(std::mem::take(&mut record.sessions)));
    }

    /// Whether there is a session, of whatever version.
    pub(crate) fn holds_any(&self) -> bool {
        !self.sessions.is_empty()
    }

    /// Everything that was not used, the newest last.
    pub(crate) fn into_sessions(self) -> impl Iterator<Item = Session> {
        self.sessions.into_iter().map(|held| held.session)
    }

    /// How many connections that ask for this could be offered something now, leaving aside what came from connection `aside`.
    pub(crate) fn servings(&self, asked: Asked, now: Nanos, aside: Option<u32>) -> usize {
        match asked.kind {
            Kind::Full => usize::MAX,
            Kind::Psk if self.psk.is_some() => usize::MAX,
            _ => match self.sessions.iter().filter(|held| serves(held, asked, now) && !is_from(held, aside)).count() {
                0 => 0,
                _ if asked.tls == Version::Tls12 => usize::MAX,
                count => count,
            },
        }
    }

    /// What the next connection of this series offers, if possible not from connection `aside`; `None` if it first takes a full
    /// handshake to have something. A ticket that does not allow `early` bytes before the handshake is offered without them.
    pub(crate) fn take_offer(&mut self, asked: Asked, now: Nanos, early: usize, aside: Option<u32>) -> Option<SessionOffer> {
        match asked.kind {
            Kind::Full => return Some(SessionOffer::nothing(asked)),
            Kind::Psk => return self.psk.clone().map(|psk| SessionOffer { offer: Offer::External(psk), held: None }),
            _ => {}
        }
        let serving = |aside| {
            let places = self.sessions.iter().enumerate().rev();
            let serving = places.filter(move |(_, held)| serves(held, asked, now) && !is_from(held, aside));
            serving.map(|(place, _)| place).collect::<Vec<_>>()
        };
        let places = Some(serving(aside)).filter(|places| !places.is_empty()).unwrap_or_else(|| serving(None));
        let place = *places.get(self.refusals.checked_rem(places.len())?)?;
        let held = self.sessions.remove(place);
        Some(offer_of(held, asked.kind, early))
    }

    /// Whether there is a ticket that allows so many bytes of early data.
    pub(crate) fn allows_early(&self, bytes: usize) -> bool {
        self.sessions.iter().any(|held| matches!(&held.session, Session::Tls13(ticket) if allows(ticket, bytes)))
    }
}

/// Whether a connection that asks for this may offer it now.
pub(crate) fn serves(held: &HeldSession, asked: Asked, now: Nanos) -> bool {
    match (&held.session, asked.kind) {
        (Session::Tls13(ticket), Kind::Ticket | Kind::Early) => asked.tls == Version::Tls13 && !ticket.is_expired(now),
        (Session::Tls12(session), Kind::Ticket) => session.ticket.is_some() && !session.is_expired(now),
        (Session::Tls12(session), Kind::Id) => !session.session_id.is_empty() && !session.is_expired(now),
        _ => false,
    }
}

fn is_from(held: &HeldSession, connection: Option<u32>) -> bool {
    connection.is_some() && held.origin.map(|origin| origin.index) == connection
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

/// A session as it is offered by this kind. A ticket that does not allow `early` bytes before the handshake is offered without.
pub(crate) fn offer_of(held: HeldSession, kind: Kind, early: usize) -> SessionOffer {
    let offer = match (held.session.clone(), kind) {
        (Session::Tls13(ticket), Kind::Early) if allows(&ticket, early) => Offer::Early(ticket),
        (Session::Tls13(ticket), _) => Offer::Ticket(ticket),
        (Session::Tls12(session), Kind::Id) => Offer::SessionId(session),
        (Session::Tls12(session), _) => Offer::SessionTicket(session),
    };
    SessionOffer { offer, held: Some(held) }
}
