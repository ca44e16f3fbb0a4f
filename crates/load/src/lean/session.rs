//! What one connection leaves behind for the next, in memory that is used again.

use reprise_engine::Secret;
use reprise_engine::suite::Suite;
use reprise_model::{Kind, Nanos};

/// The most tickets of TLS 1.3 that a thread holds for each place: a server may give two for each that is used.
const SPARE: usize = 4;

/// How a session is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionForm {
    /// TLS 1.2, by the ID.
    Id,
    /// TLS 1.2, by an RFC 5077 ticket.
    Ticket12,
    /// TLS 1.3, by a ticket.
    Ticket13,
}

/// One session.
pub(crate) struct Session {
    pub(crate) form: SessionForm,
    pub(crate) suite: &'static Suite,
    /// The PSK or the master secret.
    pub(crate) secret: Secret,
    pub(crate) extended_master_secret: bool,
    /// The ticket or the ID.
    pub(crate) name: Vec<u8>,
    /// Which of the server's names it was made under.
    pub(crate) server_name: usize,
    pub(crate) age_add: u32,
    pub(crate) lifetime: u32,
    pub(crate) received_at: Nanos,
}

impl Session {
    /// A session of the engine's, to be offered in the way of this kind; `None` where it cannot be.
    pub(crate) fn of_engine(session: &reprise_engine::Session, kind: Kind) -> Option<Self> {
        use reprise_engine::Session as Engine;
        Some(match session {
            Engine::Tls13(ticket) => Self {
                form: SessionForm::Ticket13,
                suite: ticket.suite,
                secret: ticket.psk.clone(),
                extended_master_secret: true,
                name: ticket.ticket.clone(),
                server_name: 0,
                age_add: ticket.age_add,
                lifetime: ticket.lifetime,
                received_at: ticket.received.at,
            },
            Engine::Tls12(session) => {
                let (form, name, lifetime) = match (kind, &session.ticket) {
                    (Kind::Id, _) => (SessionForm::Id, session.session_id.clone(), 0),
                    (_, Some(ticket)) => (SessionForm::Ticket12, ticket.ticket.clone(), ticket.lifetime_hint),
                    (_, None) => return None,
                };
                Self {
                    form,
                    suite: session.suite,
                    secret: Secret::new(session.master_secret.as_bytes())?,
                    extended_master_secret: session.extended_master_secret,
                    name,
                    server_name: 0,
                    age_add: 0,
                    lifetime,
                    received_at: session.received.at,
                }
            }
        })
    }

    /// `obfuscated_ticket_age` at `now` (RFC 8446 §4.2.11.1).
    pub(crate) fn obfuscated_age(&self, now: Nanos) -> u32 {
        ((now.since(self.received_at).0 / 1_000_000) as u32).wrapping_add(self.age_add)
    }

    fn is_expired(&self, now: Nanos) -> bool {
        reprise_engine::is_expired(self.suite.version, self.lifetime, now.since(self.received_at))
    }
}

/// The sessions that one thread holds for one name and form.
pub(crate) struct SessionPool {
    /// How many to hold.
    target: usize,
    /// Whether one may be used more than once.
    reuse: bool,
    held: Vec<Session>,
    next: usize,
    /// The memory of names that are not needed any more.
    spare: Vec<Vec<u8>>,
}

impl SessionPool {
    pub(crate) fn new(target: usize, reuse: bool) -> Self {
        let target = target.max(1);
        let held = Vec::with_capacity(target.saturating_mul(SPARE).min(1 << 20));
        Self { target, reuse, held, next: 0, spare: Vec::with_capacity(SPARE * 16) }
    }

    /// A session to offer; `None` where a full handshake must come first. Those that are used once go newest first, the
    /// others in turns, each as a copy.
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Session> {
        loop {
            if !self.reuse {
                let session = self.held.pop()?;
                if !session.is_expired(now) {
                    return Some(session);
                }
                self.recycle(session.name);
                continue;
            }
            if self.held.len() < self.target {
                return None;
            }
            self.next = (self.next + 1) % self.held.len().max(1);
            let mut name = self.spare.pop().unwrap_or_default();
            let session = self.held.get(self.next)?;
            if session.is_expired(now) {
                self.held.swap_remove(self.next);
                continue;
            }
            name.clear();
            name.extend_from_slice(&session.name);
            return Some(Session { name, secret: session.secret.clone(), ..*session });
        }
    }

    /// Takes back what was offered. What was refused is not offered again.
    pub(crate) fn give_back(&mut self, session: Session, accepted: bool) {
        if self.reuse
            && !accepted
            && let Some(place) = self.held.iter().position(|held| held.name == session.name)
        {
            let refused = self.held.swap_remove(place);
            self.recycle(refused.name);
        }
        self.recycle(session.name);
    }

    /// Keeps a new session.
    pub(crate) fn keep(&mut self, session: Session) {
        let most = if self.reuse { self.target } else { self.target.saturating_mul(SPARE) };
        if self.held.len() < most {
            self.held.push(session);
        } else if let Some(oldest) = self.held.first_mut() {
            let oldest = std::mem::replace(oldest, session);
            self.recycle(oldest.name);
        }
    }

    /// A name in memory that was used before.
    pub(crate) fn name(&mut self, name: &[u8]) -> Vec<u8> {
        let mut memory = self.spare.pop().unwrap_or_default();
        memory.clear();
        memory.extend_from_slice(name);
        memory
    }

    /// Keeps the memory of a name for the next.
    pub(crate) fn recycle(&mut self, name: Vec<u8>) {
        if self.spare.len() < self.spare.capacity() {
            self.spare.push(name);
        }
    }
}
