//! What a store remembers of a session.

use crate::attempt::{JudgedConnection, OfferVariation, OfferedSession, PriorOffers};

/// What a store does with a session that it is asked for. Times are seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Whether it accepts any.
    pub(crate) accepts: bool,
    /// How long it keeps one.
    pub(crate) lifetime: Lifetime,
    /// How many it keeps.
    pub(crate) capacity: Option<Capacity>,
    /// Whether it forgets one that was resumed.
    pub(crate) is_single_use: bool,
    /// How old one must be.
    pub(crate) least_age: f64,
    /// How many resumptions may lie between one and a full handshake.
    pub(crate) most_depth: usize,
    /// What must be as it was.
    pub(crate) bound_to: Option<OfferVariation>,
}

/// How long a session is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lifetime {
    /// For longer than an examination takes.
    Long,
    /// For so many seconds.
    Seconds(f64),
    /// For so many seconds of a clock that counts whole ones, the first of which began so long before the first connection.
    WholeSeconds { count: f64, phase: f64 },
}

/// How many sessions are kept, where other clients bring so many in a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    /// In all parts together.
    pub(crate) sessions: u32,
    pub(crate) others_a_second: f64,
    /// Parts of equal size, each of which forgets its oldest session when another comes: the part follows from a hash of the ID,
    /// as in Apache's shmcb. With as many parts as sessions any may go.
    pub(crate) parts: u32,
}

impl Memory {
    /// It remembers every session.
    pub(crate) const PERFECT: Self = Self {
        accepts: true,
        lifetime: Lifetime::Long,
        capacity: None,
        is_single_use: false,
        least_age: 0.0,
        most_depth: usize::MAX,
        bound_to: None,
    };

    /// The probability that the session is known and may be used.
    pub(crate) fn knows(&self, attempt: &JudgedConnection, offered: &OfferedSession) -> f64 {
        let is_allowed = self.accepts
            && offered.depth < self.most_depth
            && !(self.is_single_use && offered.used > 0)
            && (self.bound_to.is_none() || self.bound_to != Some(attempt.variation));
        if !is_allowed {
            return 0.0;
        }
        let mut known = self.lifetime.keeps(attempt.at, offered.age);
        if self.least_age > 0.0 {
            known *= 1.0 - edge(self.least_age, offered.age);
        }
        if let Some(capacity) = self.capacity {
            known *= capacity.keeps(offered);
        }
        known
    }
}

impl Lifetime {
    fn keeps(self, at: f64, age: f64) -> f64 {
        match self {
            Self::Long => 1.0,
            Self::Seconds(seconds) => edge(seconds, age),
            Self::WholeSeconds { count, phase } => {
                let counted = (at + phase).floor() - (at - age + phase).floor();
                if counted <= count { 1.0 } else { 0.0 }
            }
        }
    }
}

impl Capacity {
    /// The probability that fewer than there is room for came since, given what earlier offers showed.
    fn keeps(self, offered: &OfferedSession) -> f64 {
        let is_by_chance = self.parts > 1 || self.others_a_second > 0.0;
        match offered.earlier {
            earlier if is_by_chance && earlier.is_refused => 0.0,
            PriorOffers { accepted: Some((others, age)), .. } if is_by_chance => {
                (self.keeps_after(offered.others, offered.age) / self.keeps_after(others, age).max(1e-12)).min(1.0)
            }
            _ => self.keeps_after(offered.others, offered.age),
        }
    }

    /// The same after so many others, at this age.
    fn keeps_after(self, others: usize, age: f64) -> f64 {
        let of_others = self.others_a_second * age;
        if self.parts > 1 {
            return poisson_below(self.sessions / self.parts, (others as f64 + of_others) / f64::from(self.parts));
        }
        let room = f64::from(self.sessions) - others as f64;
        if of_others <= 0.0 {
            return if room > 0.0 { 1.0 } else { 0.0 };
        }
        // A Poisson number, by its normal approximation.
        logistic(1.7 * (room - 0.5 - of_others) / of_others.sqrt())
    }
}

/// The probability that fewer than `count` come, where `mean` come on average.
fn poisson_below(count: u32, mean: f64) -> f64 {
    let terms = (1..count).scan((-mean).exp(), |term, place| {
        *term *= mean / f64::from(place);
        Some(*term)
    });
    ((-mean).exp() + terms.sum::<f64>()).min(1.0)
}

/// The probability that something of this age is not over a limit. The limit has a width of a few hundredths: times are measured
/// at one end, and counted at the other.
fn edge(limit: f64, age: f64) -> f64 {
    logistic(80.0 * (limit / age.max(1e-4)).ln())
}

pub(crate) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).clamp(-40.0, 40.0).exp())
}
