//! Which connection is made next: in the order given, as far as places are free, sessions there and limits not reached.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, SystemTime};

use reprise_connection::Fault;
use reprise_model::{Asked, FaultName, Kind, Nanos, Observation, Purpose};

use super::places::{Access, Places};
use super::{Crossed, CrossingEnd, CrossingLimits, Order};
use crate::clock::Clock;
use crate::connection_plan::{ConnectionPlan, ConnectionRecord, HeldSession, SessionOffer};
use crate::interrupt::Interrupt;
use crate::session_cache::{offer_of, version_of};

/// So many full handshakes in a row of one place may leave nothing to offer.
const GIVES_NOTHING: u32 = 2;

/// What a worker is told.
pub(super) enum Next {
    /// To make this connection.
    Make(Box<Taken>),
    /// To ask again, once another has ended or a moment has passed.
    Wait,
    /// That there is none left.
    Nothing,
}

/// A connection that is to be made, with all that it takes.
pub(super) struct Taken {
    order: Order,
    held: Option<HeldSession>,
    access: Box<Access>,
    index: u32,
    /// Not before this time.
    pub(super) start: Nanos,
    timeout: Option<Duration>,
    clock: Clock,
    interrupt: Interrupt,
}

/// A connection that was made.
pub(super) struct Done {
    order: Order,
    held: Option<HeldSession>,
    access: Box<Access>,
    record: ConnectionRecord,
    ended: Nanos,
    server_clock: Option<(i64, i64)>,
}

/// The connections that are left to make.
pub(super) struct ConnectionQueue {
    places: Places,
    left: VecDeque<Order>,
    clock: Clock,
    limits: CrossingLimits,
    begun: u32,
    /// When the next may be begun.
    due: Nanos,
    interrupt: Interrupt,
    ended: Option<CrossingEnd>,
    /// Full handshakes in a row that gave nothing to offer.
    gave_nothing: HashMap<(usize, Asked), u32>,
}

impl ConnectionQueue {
    pub(super) fn new(
        places: Places,
        orders: impl IntoIterator<Item = Order>,
        clock: Clock,
        limits: CrossingLimits,
        begun: u32,
        interrupt: Interrupt,
    ) -> Self {
        let left = orders.into_iter().collect();
        let (ended, due) = (None, clock.now());
        Self { places, left, clock, limits, begun, due, interrupt, ended, gave_nothing: HashMap::new() }
    }

    pub(super) fn begun(&self) -> u32 {
        self.begun
    }

    pub(super) fn ended(&self) -> Option<CrossingEnd> {
        self.ended
    }

    pub(super) fn into_places(self) -> Places {
        self.places
    }

    /// What is to be done now.
    pub(super) fn next(&mut self) -> Next {
        if self.left.is_empty() {
            return Next::Nothing;
        }
        if let Some(ended) = self.limit() {
            self.ended = Some(ended);
            self.left.clear();
            return Next::Nothing;
        }
        // What waits for a place keeps its turn there.
        let mut waited_for: BTreeSet<usize> = BTreeSet::new();
        let mut place = 0;
        while let Some(order) = self.left.get(place).copied() {
            match self.what_it_takes(order, &waited_for) {
                Takes::Nothing => {
                    self.left.remove(place);
                    return self.take(order);
                }
                Takes::FullFirst(full) => return self.take(full),
                Takes::Time => {
                    waited_for.insert(order.to);
                    place += 1;
                }
                Takes::TooMuch => {
                    self.left.remove(place);
                }
            }
        }
        if self.left.is_empty() { Next::Nothing } else { Next::Wait }
    }

    fn limit(&self) -> Option<CrossingEnd> {
        if self.interrupt.is_raised() {
            return Some(CrossingEnd::Interrupted);
        }
        let is_over = self.begun >= self.limits.connections || Duration::from(self.clock.now()) >= self.limits.time;
        is_over.then_some(CrossingEnd::Limit)
    }

    fn what_it_takes(&self, order: Order, waited_for: &BTreeSet<usize>) -> Takes {
        let now = self.clock.now();
        let Some(to) = self.places.get(order.to).filter(|to| to.allows(order.asked.tls)) else { return Takes::TooMuch };
        if !to.is_free() || waited_for.contains(&order.to) || to.health.not_before() > now {
            return Takes::Time;
        }
        let Some(session) = order.session else { return Takes::Nothing };
        let Some(from) = self.places.get(session.place) else { return Takes::TooMuch };
        let is_there = from.stock.count(order.asked, now) > 0;
        let gives_nothing = self.gave_nothing.get(&(session.place, order.asked)).is_some_and(|it| *it >= GIVES_NOTHING);
        match (is_there, session.connection) {
            (true, _) => Takes::Nothing,
            (false, Some(_)) => Takes::TooMuch,
            // One may be on its way.
            (false, None) if !from.is_free() => Takes::Time,
            (false, None) if gives_nothing || !from.allows(order.asked.tls) => Takes::TooMuch,
            (false, None) if from.health.not_before() > now => Takes::Time,
            (false, None) => Takes::FullFirst(Order::full(session.place, order.asked)),
        }
    }

    fn take(&mut self, order: Order) -> Next {
        let now = self.clock.now();
        let session = order.session.map(|of| {
            let from = self.places.get_mut(of.place);
            from.and_then(|from| from.take_session(order.asked, of.connection, now))
        });
        let held = match session {
            // The one that was meant is not there any more.
            Some(None) => return self.next(),
            Some(held) => held,
            None => None,
        };
        let Some(to) = self.places.get_mut(order.to) else { return self.next() };
        let Some(access) = to.take_access() else { return self.next() };
        let timeout = match &*access {
            Access::Open(connector, _) => Some(to.health.timeout(connector.settings.timeout)),
            _ => None,
        };
        let start = self.due.max(now);
        self.due = Nanos(start.0 + 1_000_000_000 / u64::from(self.limits.rate.max(1)));
        let (index, clock, interrupt) = (self.begun, self.clock, self.interrupt.clone());
        self.begun = self.begun.saturating_add(1);
        Next::Make(Box::new(Taken { order, held, access, index, start, timeout, clock, interrupt }))
    }

    /// Keeps what a connection left behind, and learns from what came of it.
    pub(super) fn settle(&mut self, done: Done) -> Crossed {
        let Done { order: Order { to, asked, session }, held, access, mut record, ended, server_clock } = done;
        let observation = record.observation;
        let from = session.map(|session| session.place);
        if let Some(known) = self.places.get_mut(to) {
            known.give_back(access);
            known.health.hear(asked.tls, session.is_some(), record.fault.as_ref(), ended);
            known.learn(record.software.take(), server_clock);
            known.stock.keep(&observation, asked, std::mem::take(&mut record.sessions));
            if let Some(held) = held.filter(|_| from == Some(to) && observation.is_refusal()) {
                known.stock.forget(asked, &held);
            }
        }
        if session.is_none() {
            let gives = self.places.sessions(to, asked, ended) > 0;
            let count = self.gave_nothing.entry((to, asked)).or_default();
            *count = if gives { 0 } else { *count + 1 };
        }
        Crossed { from, to, asked, observation, fault: record.fault }
    }
}

/// What an order takes to be carried out now.
enum Takes {
    Nothing,
    /// A full handshake that gives a session.
    FullFirst(Order),
    /// A place is not free.
    Time,
    /// It cannot be carried out.
    TooMuch,
}

impl Taken {
    /// Makes the connection, not before `start`.
    pub(super) fn make(self, start: Nanos) -> Done {
        let Self { order, held, access, index, timeout, clock, interrupt, .. } = self;
        let mut access = access.open(clock, &interrupt);
        let mut before = 0;
        clock.wait_until(start, &interrupt);
        let record = match &mut access {
            Access::Open(connector, plan) => {
                let usual = connector.settings.timeout;
                connector.settings.timeout = timeout.unwrap_or(usual);
                connector.number_next(index);
                let config = plan.versions.iter().find(|plan| plan.version == order.asked.tls).map(|plan| &plan.config);
                before = unix_milliseconds();
                let record = config.map(|config| {
                    let offer = held.clone().filter(|held| version_of(&held.session) == order.asked.tls);
                    let asked = if offer.is_some() { order.asked } else { Asked { kind: Kind::Full, ..order.asked } };
                    let early = connector.early_request_length().unwrap_or(usize::MAX);
                    let offer = match offer {
                        Some(held) => offer_of(held, order.asked.kind, early),
                        None => SessionOffer::nothing(order.asked),
                    };
                    connector.connect(ConnectionPlan::sample(config, asked, offer))
                });
                connector.settings.timeout = usual;
                record.unwrap_or_else(|| failed(index, start, order.asked, Fault::new(FaultName::Unconfirmed)))
            }
            Access::Closed(fault) => failed(index, start, order.asked, fault.clone()),
            Access::Untried(_) => failed(index, start, order.asked, Fault::interrupted()),
        };
        // The date, to which milliseconds are missing, was written between then and now.
        let dated = record.date.and_then(|date| i64::try_from(date).ok()).map(|date| date.saturating_mul(1000));
        let server_clock = dated.map(|date| (date.saturating_sub(unix_milliseconds()), date.saturating_add(1000) - before));
        Done { order, held, access: Box::new(access), record, ended: clock.now(), server_clock }
    }
}

/// This machine's time: no interval is measured by it.
fn unix_milliseconds() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn failed(index: u32, start: Nanos, asked: Asked, fault: Fault) -> ConnectionRecord {
    let observation = Observation { outcome: Err(fault.name), ..Observation::begun(index, start, Purpose::Sample, asked) };
    ConnectionRecord { fault: Some(fault), ..ConnectionRecord::begun(observation) }
}
