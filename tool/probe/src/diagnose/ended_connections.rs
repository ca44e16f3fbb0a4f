//! What becomes of sessions once their connections have ended, and how the server ended them.

use reprise_model::{Asked, Ended, Kind, Observation, Ticket};

use super::Examination;

/// The connections of one mechanism in which nothing was varied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedConnections {
    /// Those that offered a session, of a connection before that had ended.
    pub offered: u32,
    /// Those of them that were resumed.
    pub resumed: u32,
    /// Those that the server ended with close_notify.
    pub with_close_notify: u32,
    /// Those that it ended without.
    pub without: u32,
    /// Those that were given a ticket which holds its session, so that no cache is asked for it.
    pub self_contained: u32,
}

impl Examination {
    /// What was seen of this mechanism.
    pub fn offers_after_ends(&self, asked: Asked) -> EndedConnections {
        let runs = self.runs.iter().filter(|run| run.asked == asked);
        let plain = runs.filter(|run| run.experiment.is_plain() || run.experiment.is_chosen()).flat_map(|run| &run.seen);
        plain.map(|seen| &seen.observation).fold(EndedConnections::default(), EndedConnections::with)
    }
}

impl EndedConnections {
    fn with(self, seen: &Observation) -> Self {
        let Some(facts) = seen.facts() else { return self };
        let is_offered = facts.session_offered && seen.is_answered_well();
        Self {
            offered: self.offered + u32::from(is_offered),
            resumed: self.resumed + u32::from(is_offered && facts.kind != Kind::Full),
            with_close_notify: self.with_close_notify + u32::from(seen.ended == Ended::CloseNotify),
            without: self.without + u32::from(matches!(seen.ended, Ended::Fin | Ended::Reset)),
            self_contained: self.self_contained + u32::from(facts.tickets.iter().any(Ticket::holds_its_session)),
        }
    }

    /// Whether sessions seem to go with their connections: a server that is slow to free one resumes a few that are offered at once.
    pub fn are_evicted(self) -> bool {
        let refused = self.offered - self.resumed;
        let is_stored = self.self_contained == 0;
        is_stored && refused > 0 && refused >= 4 * self.resumed && self.with_close_notify == 0 && self.without > 0
    }
}
