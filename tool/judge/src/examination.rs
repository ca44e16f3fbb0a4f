//! An examination of one server: which connection comes next, and what all of them show.

use std::collections::HashMap;

use reprise_model::document::BalancedNodes;

use crate::answers::{Answered, Answers};
use crate::attempt::{ConnectionOutcome, JudgedConnection, OfferVariation, OfferedSession, PriorOffers, SeenConnection};
use crate::cause::{Causes, JudgedCause};
use crate::choice::{Attention, Rivals};
use crate::conclusion::{Conclusion, conclusions, groups};
use crate::experiment::{OPENING, Pick, QUICK, SERIES, Step, singles};
use crate::judge::{Judge, odds};

/// What an examination may ask of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Connections.
    pub connections: usize,
    /// Seconds, from the first connection to the last.
    pub seconds: f64,
}

/// A connection to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextConnection {
    /// How many were made before.
    pub connection: usize,
    /// Seconds to wait since the connection before; none where it is `None`.
    pub after: Option<f64>,
    /// The connection whose session it offers.
    pub offer: Option<usize>,
    /// What it changes.
    pub variation: OfferVariation,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectionAnswer<'a> {
    /// What became of it.
    pub outcome: ConnectionOutcome,
    /// What the application answered.
    pub answered: Answered,
    /// The key name of the ticket that it gave.
    pub key: Option<&'a str>,
    /// When it was made, in seconds of any clock.
    pub now: f64,
    /// How many sessions it gave, the last of which can be offered.
    pub sessions: usize,
}

/// So much more than certain a cause must be before it is confirmed: confirming takes some away.
const CLEAR: f64 = 1500.0;
/// Connections before anything is clear, and those that confirm it.
const LEAST: usize = 12;
const CONFIRMING: usize = 6;
/// How often a session is offered, and how often each variation is made: one odd offer that is repeated ten times is not ten
/// witnesses.
const OFFERS_A_SESSION: usize = 3;
const OFFERS_A_VARIATION: usize = 9;
/// The bits for the price of one connection below which nothing more is asked, and below which several connections are tried.
const LEAST_GAIN: f64 = 0.001;
const LITTLE_GAIN: f64 = 0.03;
/// How often each series is made.
const TIMES_A_SERIES: usize = 2;

/// An examination of one server.
#[derive(Clone, Debug)]
pub struct ServerExamination {
    judge: Judge,
    budget: Budget,
    sessions: Vec<Option<Session>>,
    /// Every connection, to be weighed again where it turns out what errors are.
    told: Vec<ToldConnection>,
    answers: Answers,
    /// Whether resumed connections are answered otherwise: then an error is no node that fails.
    answers_differ: bool,
    keys: HashMap<String, u32>,
    began: Option<f64>,
    /// When the last connection was made, in seconds since the first.
    now: f64,
    /// Seconds from one connection to the next where none is waited for.
    pace: f64,
    /// The same where the next is asked for after a thousandth.
    quick_pace: Option<f64>,
    /// What is to be made of the experiment that was begun, the last first.
    planned: Vec<Step>,
    first_of_experiment: usize,
    last_offered: Option<usize>,
    variations: HashMap<OfferVariation, usize>,
    series: [usize; SERIES.len()],
    /// How many connections there were when all became clear.
    clear_since: Option<usize>,
    is_over: bool,
    /// Whether connections may be asked for in which something is changed.
    may_change: bool,
}

#[derive(Clone, Copy, Debug)]
struct ToldConnection {
    attempt: JudgedConnection,
    seen: SeenConnection,
    answered: Answered,
}

#[derive(Clone, Copy, Debug)]
struct Session {
    born: f64,
    depth: usize,
    used: usize,
    earlier: PriorOffers,
    offered: usize,
    is_plain: bool,
    /// How many its connection gave.
    given: usize,
}

impl ServerExamination {
    /// Of a server of which nothing is known.
    pub fn new(budget: Budget) -> Self {
        let planned = OPENING.iter().rev().copied().collect();
        Self { planned, may_change: true, ..Self::of_what_is_known(budget) }
    }

    /// Of a server with which connections were made before, in the order of time: they are to be answered first. Nothing is
    /// changed in the connections that it asks for.
    pub fn of_what_is_known(budget: Budget) -> Self {
        Self {
            judge: Judge::new(),
            budget,
            sessions: Vec::new(),
            told: Vec::new(),
            answers: Answers::default(),
            answers_differ: false,
            keys: HashMap::new(),
            began: None,
            now: 0.0,
            pace: 0.03,
            quick_pace: None,
            planned: Vec::new(),
            first_of_experiment: 0,
            last_offered: None,
            variations: HashMap::new(),
            series: [0; SERIES.len()],
            clear_since: None,
            is_over: false,
            may_change: false,
        }
    }

    /// Allows so much from now on.
    pub fn allow(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// The hypotheses, after all that was answered.
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.sessions.len()
    }

    /// How long they took, in seconds.
    pub fn seconds(&self) -> f64 {
        self.now
    }

    /// The next connection; `None` once all is clear, the budget is used, or no connection would tell more.
    pub fn next_request(&mut self) -> Option<NextConnection> {
        if self.is_over || self.sessions.len() >= self.budget.connections || self.now >= self.budget.seconds {
            return None;
        }
        loop {
            let step = match self.planned.pop() {
                Some(step) => step,
                None => {
                    self.plan();
                    self.planned.pop()?
                }
            };
            // What cannot be offered, since the connection that should have given it failed, is left out.
            if let Some(attempt) = self.foresee(step) {
                let offer = attempt.offered.map(|offered| offered.from);
                let connection = self.sessions.len();
                return Some(NextConnection { connection, after: step.after, offer, variation: step.variation });
            }
        }
    }

    /// What became of a request.
    pub fn answer(&mut self, request: NextConnection, answer: ConnectionAnswer<'_>) {
        let began = *self.began.get_or_insert(answer.now);
        let at = (answer.now - began).max(self.now);
        let gap = at - self.now;
        self.learn_pace(request.after, gap);
        let offered = request.offer.and_then(|from| self.offered(from, at));
        let attempt = JudgedConnection { connection: self.sessions.len(), at, gap, offered, variation: request.variation };
        let count = self.keys.len() as u32;
        let key = answer.key.map(|name| *self.keys.entry(name.to_owned()).or_insert(count));
        let seen = SeenConnection { outcome: answer.outcome, key };
        self.weigh(ToldConnection { attempt, seen, answered: answer.answered });
        let is_resumed = answer.outcome == ConnectionOutcome::Resumed;
        if let Some(offered) = offered {
            self.last_offered = Some(offered.from);
            if let Some(session) = &mut self.sessions[offered.from] {
                session.offered += 1;
                session.used += usize::from(is_resumed);
                session.earlier.note(&attempt, answer.outcome);
            }
            *self.variations.entry(request.variation).or_default() += 1;
        }
        let session = Session {
            born: at,
            depth: offered.filter(|_| is_resumed).map_or(0, |offered| offered.depth + 1),
            used: 0,
            earlier: PriorOffers::default(),
            offered: 0,
            is_plain: request.variation == OfferVariation::Plain,
            given: answer.sessions,
        };
        let gives_session = answer.sessions > 0 && !answer.outcome.is_failure();
        self.sessions.push(gives_session.then_some(session));
        self.now = at;
    }

    /// What is more likely than not, the likeliest first.
    pub fn conclusions(&self) -> Vec<Conclusion> {
        let is_confirmed = self.clear_since.is_some_and(|since| self.sessions.len() >= since + CONFIRMING);
        conclusions(&self.judge, self.answers.odds(), is_confirmed)
    }

    /// Weighs one more connection; all again, where it shows that errors are of another kind than was thought.
    fn weigh(&mut self, told: ToldConnection) {
        if !told.seen.outcome.is_failure() {
            self.answers.note(told.seen.outcome == ConnectionOutcome::Resumed, told.answered);
        }
        self.told.push(told);
        let differ = self.answers.odds() >= 1.0;
        let is_turned = differ != self.answers_differ;
        self.answers_differ = differ;
        if is_turned {
            self.judge = Judge::new();
        }
        let first = if is_turned { 0 } else { self.told.len() - 1 };
        for told in self.told.iter().skip(first) {
            let (attempt, seen) = told.reading(differ);
            self.judge.observe(&attempt, &seen);
        }
    }

    /// The nodes, where it is sure that there are several.
    pub fn nodes(&self) -> Option<BalancedNodes> {
        self.judge.nodes()
    }

    fn learn_pace(&mut self, after: Option<f64>, gap: f64) {
        match after {
            _ if self.sessions.is_empty() => {}
            None if self.sessions.len() == 1 => self.pace = gap,
            None => self.pace = 0.5 * (self.pace + gap),
            Some(seconds) if seconds <= QUICK => self.quick_pace = Some(gap),
            Some(_) => {}
        }
    }

    /// Begins the next experiment, where one would tell more.
    fn plan(&mut self) {
        let posterior = self.judge.posterior();
        if self.is_open_whether_answers_differ() {
            self.planned.extend(self.telling_of_answers());
            return;
        }
        if self.is_decided(&posterior) {
            self.is_over = true;
            return;
        }
        let confirming = Attention { least: 1e-7, power: 0.25 };
        let searching = Attention { least: 3e-4, power: 0.5 };
        let attention = if self.clear_since.is_some() { confirming } else { searching };
        let mut rivals = Rivals::new(&self.judge, &posterior, attention);
        let (mut best, mut most) = (None, LEAST_GAIN);
        for step in singles().into_iter().filter(|step| self.may_change || step.variation == OfferVariation::Plain) {
            let wait = step.after.unwrap_or(0.0);
            let Some(attempt) = self.foresee(step).filter(|_| self.now + wait <= self.budget.seconds) else { continue };
            let worth = rivals.gain(&attempt) / (1.2 + 0.7 * wait);
            if worth > most {
                (best, most) = (Some(step), worth);
            }
        }
        self.first_of_experiment = self.sessions.len();
        let shows_little = most < LITTLE_GAIN && self.clear_since.is_none();
        if let Some(place) = shows_little.then(|| self.telling_series(&posterior)).flatten() {
            self.series[place] += 1;
            self.planned.extend(SERIES[place].steps.iter().rev());
            return;
        }
        self.planned.extend(best.or_else(|| self.further()));
    }

    /// Where all looks clear, further connections still have to show it.
    fn further(&self) -> Option<Step> {
        let made = self.sessions.len();
        let picks = [Pick::Ago(1 + made % 3), Pick::Ago(1), Pick::None].into_iter();
        let mut steps = picks.map(|session| Step { session, ..Step::PLAIN });
        steps.find(|step| (made < LEAST || self.clear_since.is_some()) && self.foresee(*step).is_some())
    }

    fn is_open_whether_answers_differ(&self) -> bool {
        let odds = self.answers.odds();
        self.answers.has_errors() && odds > absent_below(JudgedCause::AnswersDiffer) && odds < CLEAR
    }

    /// A connection of the kind of which fewer were answered.
    fn telling_of_answers(&self) -> Option<Step> {
        let offers = [Pick::Ago(1), Pick::Ago(2), Pick::Unused, Pick::None].map(|session| Step { session, ..Step::PLAIN });
        match self.answers.lacks_full() {
            true => Some(Step::PLAIN),
            false => offers.into_iter().find(|step| self.foresee(*step).is_some()),
        }
    }

    /// The series that was made least often among those that tell of an open cause.
    fn telling_series(&self, posterior: &[(Causes, f64)]) -> Option<usize> {
        let left = self.budget.connections - self.sessions.len();
        let is_open = |cause: &JudgedCause| {
            let odds = odds(posterior, Causes::of(&[*cause]));
            odds > absent_below(*cause) && odds < CLEAR
        };
        let mut places: Vec<usize> = (0..SERIES.len()).collect();
        places.retain(|place| {
            let series = &SERIES[*place];
            self.series[*place] < TIMES_A_SERIES && series.steps.len() <= left && series.tells.iter().any(is_open)
        });
        places.into_iter().min_by_key(|place| self.series[*place])
    }

    /// Whether each cause is there or not, and that was confirmed.
    fn is_decided(&mut self, posterior: &[(Causes, f64)]) -> bool {
        let made = self.sessions.len();
        let is_clear = made >= LEAST
            && groups().filter(|causes| self.may_change || !causes.iter().any(|cause| cause.is_bond())).all(|causes| {
                let odds = odds(posterior, Causes::of(causes));
                odds > CLEAR || causes.iter().all(|cause| odds < absent_below(*cause))
            });
        self.clear_since = if is_clear { self.clear_since.or(Some(made)) } else { None };
        let is_healthy = most_probable(posterior) == Causes::NONE && !self.answers_differ;
        self.clear_since.is_some_and(|since| is_healthy || made >= since + CONFIRMING)
    }

    /// The attempt that this step would be; `None` where there is no such session, or it was offered often enough.
    fn foresee(&self, step: Step) -> Option<JudgedConnection> {
        let gap = match step.after {
            None => self.pace,
            Some(seconds) if seconds <= QUICK => match self.quick_pace {
                // It is no quicker than the link.
                Some(pace) if pace > 0.7 * self.pace => return None,
                pace => pace.unwrap_or(seconds),
            },
            Some(seconds) => seconds.max(self.pace),
        };
        let at = self.now + gap;
        let offered = match step.session {
            Pick::None => None,
            pick => Some(self.offered(self.pick(pick)?, at)?),
        };
        let made = self.variations.get(&step.variation).copied().unwrap_or_default();
        if step.variation != OfferVariation::Plain && made >= OFFERS_A_VARIATION {
            return None;
        }
        Some(JudgedConnection { connection: self.sessions.len(), at, gap, offered, variation: step.variation })
    }

    /// The connection whose session this is.
    fn pick(&self, pick: Pick) -> Option<usize> {
        let may_be_offered = |place: usize, times: usize| {
            let session = self.sessions.get(place).copied().flatten();
            session.filter(|it| it.is_plain && it.offered < times).map(|_| place)
        };
        match pick {
            Pick::None => None,
            Pick::Ago(count) => may_be_offered(self.sessions.len().checked_sub(count)?, OFFERS_A_SESSION),
            Pick::Again => may_be_offered(self.last_offered?, OFFERS_A_SESSION + 1),
            Pick::First => may_be_offered(self.first_of_experiment, usize::MAX),
            Pick::Unused => {
                let is_unused = |it: &Option<Session>| it.is_some_and(|it| it.is_plain && it.used == 0);
                may_be_offered(self.sessions.iter().rposition(is_unused)?, usize::MAX)
            }
        }
    }

    fn offered(&self, from: usize, at: f64) -> Option<OfferedSession> {
        let session = self.sessions.get(from).copied().flatten()?;
        let others = self.sessions.iter().skip(from + 1).flatten().map(|session| session.given).sum();
        let Session { born, used, depth, earlier, .. } = session;
        Some(OfferedSession { from, age: at - born, others, used, depth, earlier })
    }
}

impl ToldConnection {
    /// What the hypotheses are told. An error is of a node that fails, or asks for something else, from which nothing is concluded; where
    /// resumed connections get errors since they are resumed, it says nothing of nodes.
    fn reading(&self, answers_differ: bool) -> (JudgedConnection, SeenConnection) {
        let Self { attempt, seen, answered } = *self;
        match answered {
            _ if answers_differ || seen.outcome.is_failure() => (attempt, seen),
            Answered::Well => (attempt, seen),
            Answered::Unavailable => (attempt, SeenConnection { outcome: ConnectionOutcome::Failed, ..seen }),
            Answered::Error => {
                (JudgedConnection { offered: None, ..attempt }, SeenConnection { outcome: ConnectionOutcome::Full, ..seen })
            }
        }
    }
}

/// The odds under which a cause is taken to be absent. That a session might end later, or keys change later, is never ruled out.
fn absent_below(cause: JudgedCause) -> f64 {
    match cause {
        JudgedCause::Restart | JudgedCause::Rotation | JudgedCause::RefusedYoung | JudgedCause::Unknown => 1.0 / 16.0,
        JudgedCause::Lifetime | JudgedCause::Capacity => 1.0 / 30.0,
        JudgedCause::ChainCap => 1.0 / 400.0,
        _ => 1.0 / 50.0,
    }
}

/// The causes of the likeliest class.
fn most_probable(posterior: &[(Causes, f64)]) -> Causes {
    let mut classes: HashMap<Causes, f64> = HashMap::new();
    for (causes, weight) in posterior {
        *classes.entry(*causes).or_default() += weight;
    }
    classes.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(Causes::NONE, |(causes, _)| causes)
}
