//! Connections that are chosen one by one: which session is offered, of which connection and how old. The judge chooses them, and
//! concludes from all of them why sessions are not resumed.

use std::collections::HashMap;

use reprise_connection::Fault;
use reprise_judge::{Answer, Budget, Cause, Conclusion, Examination, Outcome, Request, Variation as Change};
use reprise_model::{Asked, KeyName, Kind, Nanos, Observation};

use super::rate_limited_connector::RateLimitedConnector;
use super::steps::{Given, SHORTER, is_silence, keep};
use super::{EarlyEnd, ProbeRecord, Step, Variation};
use crate::connection_plan::{ConnectionPlan, SessionOffer};
use crate::plan::VersionPlan;
use crate::session_cache::{offer_of, serves};

/// For a mechanism whose sessions are all accepted, for one that accepts none, and for one of which some are accepted.
const IN_HEALTH: Budget = Budget { connections: 23, seconds: 3.0 };
const IN_VAIN: Budget = Budget { connections: 40, seconds: 6.0 };
const IN_DOUBT: Budget = Budget { connections: 48, seconds: 8.0 };

/// The seconds in which connections are made where nobody wants to wait.
const WITHOUT_WAITS: f64 = 0.8;

/// So many failures in a row mean that the target does not want any more, and so many that hang are enough.
const FAILURES: usize = 5;
const HANGS: usize = 5;

/// What shows where nothing is accepted.
pub const NEVER_ACCEPTED: [Cause; 3] = [Cause::NeverAccepted, Cause::FreshKey, Cause::RefusedYoung];

/// What the judge concludes of one mechanism.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The version and the mechanism.
    pub asked: Asked,
    /// What is more likely than not, the likeliest first.
    pub conclusions: Vec<Conclusion>,
    /// The odds that none of the hypotheses holds.
    pub unknown: f64,
    /// The odds that no session is accepted, as far as it looked: one that is refused until it is older looks the same.
    pub never_accepted: f64,
    /// How many nodes take turns, where that alone explains what was seen.
    pub nodes_in_turn: Option<usize>,
    /// The connections that it rests on, in the order of time.
    pub observations: Vec<Observation>,
}

impl Judgement {
    /// What it says of this cause.
    pub fn of(&self, cause: Cause) -> Option<&Conclusion> {
        self.conclusions.iter().find(|conclusion| conclusion.cause == cause)
    }

    /// Whether what becomes of a session depends on nothing but the offer: only then does what is changed show anything.
    pub fn is_steady(&self) -> bool {
        let is_of_the_offer =
            |cause| matches!(cause, Cause::SingleUse | Cause::NeverAccepted | Cause::FreshKey | Cause::OfferBreaks);
        self.unknown < 1.0 && self.conclusions.iter().all(|conclusion| is_of_the_offer(conclusion.cause))
    }
}

/// The examination of one mechanism by the judge, while it is made.
pub(super) struct History<'e, 'a> {
    pub(super) limited: &'e mut RateLimitedConnector<'a>,
    pub(super) plan: &'e VersionPlan,
    pub(super) asked: Asked,
    /// Its connections so far.
    pub(super) seen: &'e mut Vec<ProbeRecord>,
    /// The sessions that may be offered.
    pub(super) given: Given,
}

impl History<'_, '_> {
    /// Makes connections until all is clear, beginning from what was seen before of the same mechanism.
    pub(super) fn examine(mut self, before: &[ProbeRecord]) -> (Judgement, Result<(), EarlyEnd>) {
        let mut examination = Examination::of_what_is_known(IN_HEALTH);
        let mut made: Vec<Observation> = Vec::new();
        let answers_well =
            before.iter().any(|seen| seen.observation.facts().is_some() && seen.observation.is_answered_well());
        let names = names(before.iter().map(|seen| &seen.observation), self.asked);
        for seen in before {
            let offer = seen.observation.offered.and_then(|offered| place_of(&made, offered.origin?.index));
            let request = Request { connection: made.len(), after: None, offer, variation: Change::Plain };
            answer(&mut examination, request, &seen.observation, names, answers_well, &self.given);
            made.push(seen.observation);
        }
        let ended = self.proceed(&mut examination, &mut made, names, answers_well);
        let (conclusions, judge) = (examination.conclusions(), examination.judge());
        let [unknown, never_accepted] = [judge.odds(&[Cause::Unknown]), judge.odds(&NEVER_ACCEPTED)];
        (
            Judgement {
                asked: self.asked,
                conclusions,
                unknown,
                never_accepted,
                nodes_in_turn: judge.nodes_in_turn(),
                observations: made,
            },
            ended,
        )
    }

    fn proceed(
        &mut self,
        examination: &mut Examination,
        made: &mut Vec<Observation>,
        names: bool,
        answers_well: bool,
    ) -> Result<(), EarlyEnd> {
        let (mut failed_in_a_row, mut hung) = (0, 0);
        loop {
            examination.allow(self.budget(made));
            let Some(request) = examination.next_request() else { return Ok(()) };
            if !self.limited.allows(1) {
                return Ok(());
            }
            let last = made.last().map_or(Nanos(0), |seen| seen.start);
            let due = last.0 + (request.after.unwrap_or_default() * 1e9) as u64;
            self.limited.connector.wait_until(Nanos(due));
            let held = request.offer.and_then(|place| self.given.get(&made.get(place)?.index)).cloned();
            let held = held.filter(|held| serves(held, self.asked, self.limited.connector.now()));
            let (step, offer) = match held {
                Some(held) => (Step::Chosen, offer_of(held, self.asked.kind, usize::MAX)),
                None => (Step::Prime(Variation::Plain), SessionOffer::nothing(self.asked)),
            };
            let is_offered = offer.held.is_some();
            let (record, spent) = self.limited.connect(ConnectionPlan::sample(&self.plan.config, self.asked, offer))?;
            let seen = record.observation;
            hung += usize::from(is_silence(record.fault.as_ref()));
            if hung > 0 {
                let settings = &mut self.limited.connector.settings;
                settings.timeout = settings.timeout.min(SHORTER);
            }
            failed_in_a_row = if record.fault.is_some() { failed_in_a_row + 1 } else { 0 };
            self.seen.push(ProbeRecord::of(step, &record, spent));
            keep(&mut self.given, &record, self.asked);
            let request = Request { offer: request.offer.filter(|_| is_offered), ..request };
            answer(examination, request, &seen, names, answers_well, &self.given);
            made.push(seen);
            match record.fault {
                Some(fault) if failed_in_a_row >= FAILURES => return self.check_that_it_answers(fault),
                Some(_) if hung >= HANGS => return Ok(()),
                _ => {}
            }
        }
    }
}

impl History<'_, '_> {
    /// Where only offers fail, the target still answers others.
    fn check_that_it_answers(&mut self, fault: Fault) -> Result<(), EarlyEnd> {
        let plan = ConnectionPlan::sample(&self.plan.config, self.asked, SessionOffer::nothing(self.asked));
        let (record, spent) = self.limited.connect(plan)?;
        self.seen.push(ProbeRecord::of(Step::Prime(Variation::Plain), &record, spent));
        match record.fault {
            Some(_) => Err(EarlyEnd::Blocked { after: self.limited.connector.begun(), fault }),
            None => Ok(()),
        }
    }

    fn budget(&self, made: &[Observation]) -> Budget {
        let is_accepted = made.iter().any(|seen| seen.kind().is_some_and(|kind| kind != Kind::Full));
        let has_failed = made.iter().any(|seen| seen.facts().is_none());
        let is_refused = made.iter().any(Observation::is_refusal);
        let usual = match (is_accepted, is_refused || has_failed) {
            (true, false) => IN_HEALTH,
            (false, true) if !has_failed => IN_VAIN,
            _ => IN_DOUBT,
        };
        let seconds = match self.limited.limits.patience.map(|patience| patience.as_secs_f64()) {
            Some(0.0) => WITHOUT_WAITS,
            // Who wants to wait learns of lifetimes too.
            Some(patience) => usual.seconds.max(patience + 2.0),
            None => usual.seconds,
        };
        // The rate alone takes so long.
        let paced = usual.connections as f64 / f64::from(self.limited.limits.rate.max(1));
        Budget { seconds: seconds + paced, ..usual }
    }
}

fn place_of(made: &[Observation], index: u32) -> Option<usize> {
    made.iter().position(|seen| seen.index == index)
}

/// Tells the judge what became of a request. `answers_well`: whether error pages are not all that the server has.
fn answer(
    examination: &mut Examination,
    request: Request,
    seen: &Observation,
    names: bool,
    answers_well: bool,
    given: &Given,
) {
    let outcome = match seen.facts() {
        None => Outcome::Failed,
        // One node of several that answers with an error, or a limit on the rate.
        Some(_) if answers_well && !seen.is_answered_well() => Outcome::Failed,
        Some(facts) if request.offer.is_some() && facts.kind != Kind::Full => Outcome::Resumed,
        Some(_) => Outcome::Full,
    };
    let name = key_name(seen).filter(|_| names).map(|name| name.to_string());
    // Two tickets take two places in a cache.
    let tickets = seen.facts().map_or(0, |facts| usize::try_from(facts.tickets.count).unwrap_or(1));
    let sessions = if given.contains_key(&seen.index) { tickets.max(1) } else { 0 };
    examination.answer(request, Answer { outcome, key: name.as_deref(), now: seen.start.0 as f64 / 1e9, sessions });
}

/// A ticket that holds its session has at least a key name, a nonce, the secret and a tag; a shorter one only names a session.
const STATELESS: u16 = 100;

fn key_name(seen: &Observation) -> Option<KeyName> {
    Some(seen.facts()?.tickets.iter().next().filter(|ticket| ticket.length >= STATELESS)?.key_name)
}

/// Whether the first bytes of the tickets of these connections name keys: some come twice.
pub fn names<'s>(seen: impl Iterator<Item = &'s Observation>, asked: Asked) -> bool {
    let mut counts: HashMap<KeyName, u32> = HashMap::new();
    seen.filter_map(key_name).for_each(|name| *counts.entry(name).or_default() += 1);
    asked.kind != Kind::Id && counts.values().any(|count| *count > 1)
}
