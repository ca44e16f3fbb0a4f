//! Connections that are chosen one by one: which session is offered, of which connection and how old. The judge chooses them, and
//! concludes from all of them why sessions are not resumed.

use reprise_judge::{
    Answered, Budget, ConnectionAnswer, ConnectionOutcome, NextConnection, OfferVariation as Change, ServerExamination,
};
use reprise_model::{Asked, Kind, Nanos, Observation};

use super::judgement::{Judgement, NodeNames};
use super::rate_limited_connector::RateLimitedConnector;
use super::steps::{Given, SHORTER, is_silence, keep};
use super::{EarlyEnd, ProbeRecord, Step, Variation};
use crate::connection_plan::{ConnectionPlan, SessionOffer};
use crate::plan::VersionPlan;
use crate::session_cache::{offer_of, serves};

/// For a mechanism whose sessions are all accepted, for one that accepts none, and for one of which some are accepted.
// The former has room for a series that finds a small cache, after eight connections before it and up to seven single ones.
const IN_HEALTH: Budget = Budget { connections: 26, seconds: 3.0 };
const IN_VAIN: Budget = Budget { connections: 40, seconds: 6.0 };
const IN_DOUBT: Budget = Budget { connections: 48, seconds: 8.0 };

/// The seconds that may be waited where nobody wants to wait.
const WITHOUT_WAITS: f64 = 0.8;
/// So many seconds may connections themselves take, beside what is waited.
const CONNECTING: f64 = 10.0;

/// Less than any wait, in seconds, and more than rounding.
const INSTANT: f64 = 1e-6;

/// So many failures in a row mean that the target does not want any more, and so many that hang are enough.
const FAILURES: usize = 5;
const HANGS: usize = 5;

/// The examination of one mechanism by the judge, while it is made.
pub(super) struct History<'e, 'a> {
    pub(super) limited: &'e mut RateLimitedConnector<'a>,
    pub(super) plan: &'e VersionPlan,
    pub(super) asked: Asked,
    /// Its connections so far.
    pub(super) seen: &'e mut Vec<ProbeRecord>,
    /// The sessions that may be offered.
    pub(super) given: Given,
    /// The connections whose sessions the server has forgotten, by what followed.
    pub(super) forgotten: Vec<u32>,
}

impl History<'_, '_> {
    /// Makes connections until all is clear, beginning from what was seen before of the same mechanism.
    pub(super) fn examine(mut self, before: &[ProbeRecord]) -> (Judgement, Result<(), EarlyEnd>) {
        let mut examination = ServerExamination::of_what_is_known(IN_HEALTH);
        let mut made: Vec<Observation> = Vec::new();
        let reader = Reader::of(before, self.asked);
        for seen in before {
            let offer = seen.observation.offered.and_then(|offered| place_of(&made, offered.origin?.index));
            let request = NextConnection { connection: made.len(), after: None, offer, variation: Change::Plain };
            reader.tell(&mut examination, request, &seen.observation, &self.given);
            self.forget_failed(&seen.observation, &made);
            made.push(seen.observation);
        }
        let ended = self.proceed(&mut examination, &mut made, reader);
        (Judgement::new(self.asked, examination.judge(), examination.conclusions(), made), ended)
    }

    fn proceed(
        &mut self,
        examination: &mut ServerExamination,
        made: &mut Vec<Observation>,
        reader: Reader,
    ) -> Result<(), EarlyEnd> {
        let (mut failed_in_a_row, mut hung) = (0, 0);
        let mut waited = 0.0;
        loop {
            // A slow link, or a busy machine, leaves as many connections and waits as any other.
            let connecting = (examination.seconds() - waited).min(CONNECTING);
            let budget = self.budget(made);
            // Where waiting is over, connections that follow at once may still tell a time from a count.
            let waiting = budget.seconds.max(waited + INSTANT);
            examination.allow(Budget { seconds: connecting + waiting, ..budget });
            let Some(request) = examination.next_request() else { return Ok(()) };
            if !self.limited.allows(1) {
                return Ok(());
            }
            waited += request.after.unwrap_or_default();
            let last = made.last().map_or(Nanos(0), |seen| seen.start);
            let due = last.0 + (request.after.unwrap_or_default() * 1e9) as u64;
            self.limited.connector.wait_until(Nanos(due));
            let request = NextConnection { offer: self.still_held(request.offer, made), ..request };
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
            let request = NextConnection { offer: request.offer.filter(|_| is_offered), ..request };
            reader.tell(examination, request, &seen, &self.given);
            self.forget_failed(&seen, made);
            made.push(seen);
            match record.fault {
                Some(_) if hung >= HANGS => return self.check_that_it_answers(examination, made, reader),
                Some(_) if failed_in_a_row >= FAILURES => {
                    self.check_that_it_answers(examination, made, reader)?;
                    failed_in_a_row = 0;
                }
                _ => {}
            }
        }
    }

    /// The connection whose session is wanted, or that of the newest session where the server has forgotten this one.
    fn still_held(&self, wanted: Option<usize>, made: &[Observation]) -> Option<usize> {
        let is_forgotten = made.get(wanted?).is_some_and(|seen| self.forgotten.contains(&seen.index));
        let is_held = |place: &usize| made.get(*place).is_some_and(|seen| self.given.contains_key(&seen.index));
        if is_forgotten { (0..made.len()).rev().find(is_held) } else { wanted }
    }

    /// A server forgets a session that it accepted on a connection that ended in a fatal alert (RFC 5246 §7.2.2): that it refuses it
    /// later shows nothing. An ID that was resumed stays what it was.
    fn forget_failed(&mut self, seen: &Observation, made: &[Observation]) {
        let mut failed = Some(seen).filter(|seen| seen.is_broken_resumption());
        while let Some(origin) = failed.and_then(|seen| seen.offered?.origin) {
            self.given.remove(&origin.index);
            self.forgotten.push(origin.index);
            failed = made.iter().find(|it| it.index == origin.index && it.kind() == Some(Kind::Id));
        }
    }

    /// Where only offers fail, the target still answers others, one of which tells the judge as much.
    fn check_that_it_answers(
        &mut self,
        examination: &mut ServerExamination,
        made: &mut Vec<Observation>,
        reader: Reader,
    ) -> Result<(), EarlyEnd> {
        let plan = ConnectionPlan::sample(&self.plan.config, self.asked, SessionOffer::nothing(self.asked));
        let (record, spent) = self.limited.connect(plan)?;
        self.seen.push(ProbeRecord::of(Step::Prime(Variation::Plain), &record, spent));
        keep(&mut self.given, &record, self.asked);
        let request = NextConnection { connection: made.len(), after: None, offer: None, variation: Change::Plain };
        reader.tell(examination, request, &record.observation, &self.given);
        made.push(record.observation);
        match record.fault {
            Some(fault) => Err(EarlyEnd::Blocked { after: self.limited.connector.begun(), fault }),
            None => Ok(()),
        }
    }

    /// So many connections, and so many seconds of waiting.
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
        Budget { seconds, ..usual }
    }
}

fn place_of(made: &[Observation], index: u32) -> Option<usize> {
    made.iter().position(|seen| seen.index == index)
}

/// How the connections of one mechanism are read.
#[derive(Clone, Copy)]
struct Reader {
    /// What tells nodes apart.
    names: NodeNames,
    /// Whether error pages are not all that the server has.
    answers_well: bool,
}

impl Reader {
    /// As the first connections show.
    fn of(before: &[ProbeRecord], asked: Asked) -> Self {
        let mut seen = before.iter().map(|seen| &seen.observation);
        let names = NodeNames::of(seen.clone(), asked);
        Self { names, answers_well: seen.any(|seen| seen.facts().is_some() && seen.is_answered_well()) }
    }

    /// Tells the judge what became of a request.
    fn tell(self, examination: &mut ServerExamination, request: NextConnection, seen: &Observation, given: &Given) {
        let is_error = self.answers_well && !seen.is_answered_well();
        let answered = match seen.is_unavailable() {
            _ if !is_error => Answered::Well,
            true => Answered::Unavailable,
            false => Answered::Error,
        };
        let outcome = match seen.facts() {
            None if seen.is_broken_resumption() => ConnectionOutcome::Broken,
            None => ConnectionOutcome::Failed,
            Some(facts) if request.offer.is_some() && facts.kind != Kind::Full => ConnectionOutcome::Resumed,
            Some(_) => ConnectionOutcome::Full,
        };
        let name = self.names.of_node(seen);
        // Two tickets take two places in a cache.
        let tickets = seen.facts().map_or(0, |facts| usize::try_from(facts.tickets.count).unwrap_or(1));
        let sessions = if given.contains_key(&seen.index) { tickets.max(1) } else { 0 };
        let now = seen.start.0 as f64 / 1e9;
        examination.answer(request, ConnectionAnswer { outcome, answered, key: name.as_deref(), now, sessions });
    }
}
