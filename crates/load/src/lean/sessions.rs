//! The sessions of one thread: a pool for each name and form.

use reprise_model::{Kind, Nanos};

use super::session::{Session, SessionForm, SessionPool};

/// The sessions of one thread; the pools of forms that are not asked for stay empty.
///
/// A session is offered under the name that it was made for and no other (RFC 8446 §4.6.1, RFC 6066 §3): a server that
/// serves several may keep their sessions apart.
pub(crate) struct Sessions {
    by_name: Vec<Pools>,
    wants_id: bool,
    wants_ticket: bool,
}

struct Pools {
    id: SessionPool,
    ticket: SessionPool,
}

impl Sessions {
    /// `held` for each form, over so many names, of the kinds that are asked for. `reuse`: whether a ticket may be used more
    /// than once, as an ID may always.
    pub(super) fn new(held: usize, names: usize, wants: &[Kind], reuse: bool) -> Self {
        let each = held.div_ceil(names.max(1));
        let pools = || Pools { id: SessionPool::new(each, true), ticket: SessionPool::new(each, reuse) };
        Self {
            by_name: (0..names).map(|_| pools()).collect(),
            wants_id: wants.contains(&Kind::Id),
            wants_ticket: wants.contains(&Kind::Ticket),
        }
    }

    /// A session to offer under this name; `None` where a full handshake must come first.
    pub(super) fn take(&mut self, kind: Kind, server_name: usize, now: Nanos) -> Option<Session> {
        let pools = self.by_name.get_mut(server_name)?;
        match kind {
            Kind::Id => pools.id.take(now),
            Kind::Ticket => pools.ticket.take(now),
            _ => None,
        }
    }

    /// Keeps a session, if connections of its kind are asked for.
    pub(super) fn keep(&mut self, session: Session) {
        let wanted = match session.form {
            SessionForm::Id => self.wants_id,
            _ => self.wants_ticket,
        };
        let Some(pool) = self.pool(&session) else { return };
        if wanted {
            pool.keep(session);
        } else {
            pool.recycle(session.name);
        }
    }

    /// Takes back what was offered.
    pub(super) fn give_back(&mut self, session: Session, accepted: bool) {
        if let Some(pool) = self.pool(&session) {
            pool.give_back(session, accepted);
        }
    }

    /// A ticket or an ID, in memory that was used before under this name.
    pub(super) fn remember(&mut self, name: &[u8], server_name: usize) -> Vec<u8> {
        match self.by_name.get_mut(server_name) {
            Some(pools) => pools.ticket.name(name),
            None => name.to_vec(),
        }
    }

    /// Gives such memory back.
    pub(super) fn recycle(&mut self, name: Vec<u8>, server_name: usize) {
        if let Some(pools) = self.by_name.get_mut(server_name) {
            pools.ticket.recycle(name);
        }
    }

    /// Whether tickets are of any use.
    pub(super) fn wants_tickets(&self) -> bool {
        self.wants_ticket
    }

    fn pool(&mut self, session: &Session) -> Option<&mut SessionPool> {
        let pools = self.by_name.get_mut(session.server_name)?;
        Some(match session.form {
            SessionForm::Id => &mut pools.id,
            _ => &mut pools.ticket,
        })
    }
}
