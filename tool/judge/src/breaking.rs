//! Connections that fail since they offer a session: always or at times, at the offer or after the server has accepted it.

use crate::attempt::{ConnectionOutcome, OfferedSession};

/// Which connections fail that offer a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Breaking {
    pub(crate) at: BreakingPoint,
    /// How many of them do, from 0 to 1.
    pub(crate) share: f64,
    /// Whether the session decides: of one all offers fail, or none.
    pub(crate) is_of_session: bool,
}

/// What a connection fails at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreakingPoint {
    /// At the offer, whether the session is known or not: a hello that is too large, a server that fails to look a session up.
    Offer,
    /// At the resumption: a session that was kept wrongly.
    Resumption,
}

impl Breaking {
    /// Every one, at this point.
    pub(crate) fn always(at: BreakingPoint) -> Self {
        Self { at, share: 1.0, is_of_session: false }
    }

    /// The probability that a connection fails that offers this session, which is known with probability `known`.
    pub(crate) fn failing(&self, offered: &OfferedSession, known: f64) -> f64 {
        let share = match offered.earlier {
            earlier if self.is_of_session && earlier.is_broken => 1.0,
            earlier if self.is_of_session && earlier.accepted.is_some() => 0.0,
            _ => self.share,
        };
        match self.at {
            BreakingPoint::Offer => share,
            BreakingPoint::Resumption => share * known,
        }
    }

    /// The same where it ended so: what fails at the offer is never accepted.
    pub(crate) fn failing_so(&self, offered: &OfferedSession, known: f64, outcome: ConnectionOutcome) -> f64 {
        match (outcome, self.at) {
            (ConnectionOutcome::Broken, BreakingPoint::Offer) => 0.0,
            _ => self.failing(offered, known),
        }
    }

    /// The probability that the session is resumed unless the connection fails.
    pub(crate) fn resumed(&self, known: f64, failing: f64) -> f64 {
        match self.at {
            BreakingPoint::Offer => known,
            BreakingPoint::Resumption => (known - failing) / (1.0 - failing).max(1e-9),
        }
    }
}
