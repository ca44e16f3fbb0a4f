//! The sessions that one place gave, by mechanism.

use std::collections::HashMap;

use reprise_model::{Asked, Kind, Nanos, Observation, Version};

use crate::connection_plan::HeldSession;
use crate::session_cache::serves;

/// So many of one place and mechanism are kept, the newest.
const MOST: usize = 64;

/// So often a session of TLS 1.2 is offered: one that is odd is no witness for a whole fleet.
const USES: u32 = 24;

/// Early data is sent with what a ticket holds.
fn kept_as(asked: Asked) -> Asked {
    if asked.kind == Kind::Early { Asked { kind: Kind::Ticket, ..asked } } else { asked }
}

/// Sessions, the newest last, each with how often it may still be offered.
#[derive(Default)]
pub(super) struct Stock {
    sessions: HashMap<Asked, Vec<(HeldSession, u32)>>,
}

impl Stock {
    /// Keeps what a connection gave that was made for this mechanism.
    pub(super) fn keep(&mut self, seen: &Observation, asked: Asked, given: Vec<HeldSession>) {
        // An ID that was resumed stays what it was, and whose it was.
        let is_new = seen.facts().is_some_and(|facts| match asked.kind {
            Kind::Ticket => facts.tickets.count > 0,
            _ => facts.kind == Kind::Full,
        });
        if !is_new {
            return;
        }
        let uses = if asked.tls == Version::Tls12 { USES } else { 1 };
        let sessions = self.sessions.entry(asked).or_default();
        sessions.extend(given.into_iter().filter(|held| serves(held, asked, seen.start)).map(|held| (held, uses)));
        let too_many = sessions.len().saturating_sub(MOST);
        sessions.drain(..too_many);
    }

    /// The newest that can be offered now, or the newest of this connection. Early data can be sent again, as whoever records it can.
    pub(super) fn take(&mut self, asked: Asked, connection: Option<u32>, now: Nanos) -> Option<HeldSession> {
        let sessions = self.sessions.get_mut(&kept_as(asked))?;
        sessions.retain(|(held, uses)| *uses > 0 && serves(held, asked, now));
        let is_wanted = |held: &HeldSession| connection.is_none() || held.origin.map(|origin| origin.index) == connection;
        let (held, uses) = sessions.iter_mut().rev().find(|(held, _)| is_wanted(held))?;
        *uses -= u32::from(asked.kind != Kind::Early);
        Some(held.clone())
    }

    /// Where it comes from, it is not known any more.
    pub(super) fn forget(&mut self, asked: Asked, refused: &HeldSession) {
        if let Some(sessions) = self.sessions.get_mut(&asked) {
            sessions.retain(|(held, _)| held.origin != refused.origin);
        }
    }

    /// The connections that gave what can be offered now, the first first.
    pub(super) fn connections(&self, asked: Asked, now: Nanos) -> Vec<u32> {
        let can = |(held, uses): &&(HeldSession, u32)| *uses > 0 && serves(held, asked, now);
        let held = self.sessions.get(&asked).into_iter().flatten().filter(can);
        let mut all: Vec<u32> = held.filter_map(|(held, _)| Some(held.origin?.index)).collect();
        all.dedup();
        all
    }

    /// How many can be offered now.
    pub(super) fn count(&self, asked: Asked, now: Nanos) -> usize {
        let can = |(held, uses): &&(HeldSession, u32)| *uses > 0 && serves(held, asked, now);
        self.sessions.get(&kept_as(asked)).map_or(0, |sessions| sessions.iter().filter(can).count())
    }
}
