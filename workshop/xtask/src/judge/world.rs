//! A simulated server: nodes behind a balancer, each with its store, in virtual time.
//!
//! It shares no code with the judge. It keeps every session and counts what happens to it; it knows nothing of probabilities.

use serde::{Deserialize, Serialize};

use super::draw::Draw;
use super::families::Family;
use super::spec::{Choice, Oddity, Spec};

/// What a client sees of a connection.
#[derive(Debug)]
pub(crate) struct Connected {
    pub(crate) outcome: Outcome,
    /// Whether it failed after the server had accepted the session.
    pub(crate) accepted: bool,
    pub(crate) answer: Answer,
    pub(crate) key: Option<String>,
    pub(crate) now: f64,
    /// How many sessions it gave.
    pub(crate) sessions: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Full,
    Resumed,
    Failed,
}

/// What the application answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    #[default]
    Well,
    /// With an error that asks for something else.
    Error,
    /// With an error as of a node that cannot answer.
    Unavailable,
}

impl Outcome {
    /// As the judge has it.
    pub(crate) fn judged(self, accepted: bool) -> reprise_judge::ConnectionOutcome {
        match self {
            Self::Full => reprise_judge::ConnectionOutcome::Full,
            Self::Resumed => reprise_judge::ConnectionOutcome::Resumed,
            Self::Failed if accepted => reprise_judge::ConnectionOutcome::Broken,
            Self::Failed => reprise_judge::ConnectionOutcome::Failed,
        }
    }
}

impl From<Answer> for reprise_judge::Answered {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Well => Self::Well,
            Answer::Error => Self::Error,
            Answer::Unavailable => Self::Unavailable,
        }
    }
}

/// A server while it is examined.
pub(crate) struct World {
    pub(crate) family: &'static Family,
    pub(crate) spec: Spec,
    draw: Draw,
    now: f64,
    position: Option<usize>,
    /// Of the server's clock against ours.
    clock: f64,
    tokens: f64,
    /// The session that each connection gave.
    sessions: Vec<Option<Session>>,
    /// How many sessions each part of each node was given.
    stored: Vec<Vec<usize>>,
    times: Vec<f64>,
    offers: usize,
    was_resumed: bool,
    /// Whether the last session that was offered was accepted, though its connection failed.
    was_accepted: bool,
}

struct Session {
    node: usize,
    epoch: usize,
    born: f64,
    part: usize,
    /// How many sessions the part had been given before.
    place: usize,
    used: usize,
    depth: usize,
    variation: String,
    position: usize,
    /// Whether an offer of it broke a connection, or did not, where the session decides.
    breaks: Option<bool>,
}

impl World {
    pub(crate) fn new(family: &'static Family, number: u64) -> Self {
        let mut draw = Draw::new(number);
        let spec = (family.make)(&mut draw);
        let nodes = spec.positions.iter().max().map_or(1, |it| it + 1);
        let clock = draw.unit();
        let tokens = spec.limit.map_or(0.0, |(burst, _)| burst);
        let (sessions, stored, times) = (Vec::new(), vec![vec![0; spec.parts]; nodes], Vec::new());
        Self {
            family,
            spec,
            draw,
            now: 0.0,
            position: None,
            clock,
            tokens,
            sessions,
            stored,
            times,
            offers: 0,
            was_resumed: true,
            was_accepted: false,
        }
    }

    /// Connects as a client would.
    pub(crate) fn connect(&mut self, offer: Option<usize>, variation: &str, after: Option<f64>) -> Connected {
        let gap = after.unwrap_or(self.spec.pace * self.draw.between(0.9, 1.1)).max(self.spec.pace * 0.5);
        self.now += gap;
        self.others_connect(gap);
        let position = self.route(variation);
        let outcome = self.outcome(offer, variation, position);
        self.times.push(self.now);
        let node = self.spec.positions[position];
        let stored = (outcome != Outcome::Failed).then(|| self.store(node));
        let session = stored.map(|(part, place)| Session {
            node,
            epoch: self.epoch(self.now),
            born: self.now,
            part,
            place,
            used: 0,
            depth: self.depth(offer).filter(|_| outcome == Outcome::Resumed).map_or(0, |depth| depth + 1),
            variation: variation.to_owned(),
            position,
            breaks: None,
        });
        self.sessions.push(session);
        let answer = self.answer(outcome, position);
        let accepted = outcome == Outcome::Failed && self.was_accepted;
        let key = (self.spec.shows_key_names && outcome != Outcome::Failed).then(|| self.key_name(node, variation));
        Connected { outcome, accepted, answer, key, now: self.now, sessions: self.spec.tickets }
    }

    fn others_connect(&mut self, gap: f64) {
        let count = self.draw.arrivals(self.spec.others * gap);
        for _ in 0..count {
            let position = self.route("plain");
            self.store(self.spec.positions[position]);
        }
    }

    /// Stores what one connection gives; says where the last session is.
    fn store(&mut self, node: usize) -> (usize, usize) {
        let mut last = (0, 0);
        for _ in 0..self.spec.tickets {
            let part = if self.spec.parts > 1 { self.draw.count(0, self.spec.parts - 1) } else { 0 };
            last = (part, self.stored[node][part]);
            self.stored[node][part] += 1;
        }
        last
    }

    fn route(&mut self, variation: &str) -> usize {
        let count = self.spec.positions.len();
        let position = match &self.spec.choice {
            Choice::BySource(position) => *position,
            Choice::ByName => usize::from(variation == "name") % count,
            Choice::InTurn { jumps } => match self.position {
                Some(last) if !self.draw.is(*jumps) => (last + 1) % count,
                _ => self.draw.count(0, count - 1),
            },
            Choice::ByChance { weights, stays } => match self.position {
                Some(last) if self.draw.is(*stays) => last,
                _ => {
                    let mut left = self.draw.unit() * weights.iter().sum::<f64>();
                    weights
                        .iter()
                        .position(|weight| {
                            left -= weight;
                            left < 0.0
                        })
                        .unwrap_or(0)
                }
            },
        };
        self.position = Some(position);
        position
    }

    fn outcome(&mut self, offer: Option<usize>, variation: &str, position: usize) -> Outcome {
        if let Some((burst, a_second)) = self.spec.limit {
            let gap = self.now - self.times.last().copied().unwrap_or(self.now);
            self.tokens = (self.tokens + a_second * gap).min(burst);
            if self.tokens < 1.0 {
                return Outcome::Failed;
            }
            self.tokens -= 1.0;
        }
        self.was_accepted = false;
        if self.spec.dead == Some(position) || self.draw.is(self.spec.noise * 0.2) {
            return Outcome::Failed;
        }
        let Some(offer) = offer else { return Outcome::Full };
        let after_acceptance = self.spec.breaking.is_some_and(|it| it.after_acceptance);
        if !after_acceptance && self.breaks(offer, position) {
            return Outcome::Failed;
        }
        self.offers += 1;
        let is_accepted = self.accepts(offer, variation, position) && !self.draw.is(self.spec.noise);
        if is_accepted && after_acceptance && self.breaks(offer, position) {
            self.was_accepted = true;
            return Outcome::Failed;
        }
        self.was_resumed = is_accepted;
        if !is_accepted {
            return Outcome::Full;
        }
        if let Some(session) = &mut self.sessions[offer] {
            session.used += 1;
        }
        Outcome::Resumed
    }

    /// Whether this offer breaks the connection.
    fn breaks(&mut self, offer: usize, position: usize) -> bool {
        let Some(breaking) = self.spec.breaking.filter(|it| it.position.is_none_or(|it| it == position)) else {
            return false;
        };
        let known = self.sessions.get(offer).and_then(|it| it.as_ref()?.breaks);
        let breaks = known.filter(|_| breaking.is_of_session).unwrap_or_else(|| self.draw.is(breaking.share));
        if let Some(Some(session)) = self.sessions.get_mut(offer) {
            session.breaks = Some(breaks);
        }
        breaks
    }

    fn answer(&mut self, outcome: Outcome, position: usize) -> Answer {
        match outcome {
            Outcome::Failed => Answer::Well,
            _ if self.spec.ill == Some(position) => Answer::Unavailable,
            Outcome::Resumed if self.spec.resumed_errors > 0.0 && self.draw.is(self.spec.resumed_errors) => {
                if self.spec.others > 0.0 { Answer::Unavailable } else { Answer::Error }
            }
            _ => Answer::Well,
        }
    }

    fn accepts(&mut self, offer: usize, variation: &str, position: usize) -> bool {
        let (spec, now) = (&self.spec, self.now);
        let Some(Some(session)) = self.sessions.get(offer) else { return false };
        let node = spec.positions[position];
        let age = now - session.born;
        let counted_age =
            if spec.counts_whole_seconds { (now + self.clock).floor() - (session.born + self.clock).floor() } else { age };
        let is_known = spec.accepts
            && !spec.has_fresh_keys
            && session.node == node
            && spec.off != Some(position)
            && spec.off != Some(session.position)
            && session.epoch == self.epoch(now)
            && counted_age <= spec.lifetime
            && age >= spec.least_age
            && session.depth < spec.most_depth
            && !(spec.is_single_use && session.used > 0)
            && spec.capacity.is_none_or(|capacity| self.stored[node][session.part] - session.place <= capacity)
            && spec.bound_to.is_none_or(|bound| (variation == bound) == (session.variation == bound));
        let used = session.used;
        is_known
            && match spec.oddity {
                None => true,
                Some(Oddity::EveryThirdOffer) => self.offers.is_multiple_of(3),
                Some(Oddity::ByTimeOfDay { period }) => (now / period).fract() < 0.6 || self.draw.is(0.2),
                Some(Oddity::WhereQuiet { most }) => self.times.iter().filter(|it| now - **it < 1.0).count() < most,
                Some(Oddity::LessWithUse) => self.draw.is(0.9_f64.powi(used as i32 * 3 + 1)),
                Some(Oddity::ByLastOutcome) => !self.was_resumed || self.draw.is(0.3),
            }
    }

    fn epoch(&self, at: f64) -> usize {
        self.spec.key_changes.iter().filter(|change| **change <= at).count()
    }

    fn depth(&self, offer: Option<usize>) -> Option<usize> {
        self.sessions.get(offer?)?.as_ref().map(|session| session.depth)
    }

    fn key_name(&self, node: usize, variation: &str) -> String {
        if self.spec.has_fresh_keys {
            return format!("fresh{}", self.sessions.len());
        }
        let context = if variation == "name" && self.spec.bound_to == Some("name") { "n" } else { "" };
        format!("{node}.{}{context}", self.epoch(self.now))
    }
}
