//! One thread: an event loop over its connections.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token};
use reprise_connection::{End, Fault};
use reprise_model::{FaultName, Kind, Nanos, Version};

use crate::alarm::Alarm;
use crate::arrivals::{Arrivals, Turns, share};
use crate::connection::Connection;
use crate::deadlines::Deadlines;
use crate::latencies::Latencies;
use crate::options::{ConnectionPlan, LoadEnd, LoadOptions};
use crate::resources::cpu::Spent;
use crate::shared::LoadShared;
use crate::stage_summaries::StageSummaries;
use crate::summary::{Completion, Summary};

/// How often the flags of others are looked at.
const SLICE: Duration = Duration::from_millis(50);

/// After Ctrl-C, and after the end of a load of which nothing ever completed, connections that run are given this long; otherwise the
/// time that each has anyway: without the slowest, latencies would look better than they were.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// After a failure, a closed loop waits before it tries again: doubling, up to the second.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(100)];

/// A target that nobody serves is given up after this time: a server that starts has it to begin.
const PATIENCE: Duration = Duration::from_secs(3);

/// Bytes that are read at once: the longest record, and what may come before it.
const BUFFER: usize = 32 * 1024;

/// Events that are taken at once.
const EVENTS: usize = 256;

/// Connections that begin before others are looked after.
const MOST_AT_ONCE: usize = 256;

/// What all threads of a load share.
pub(crate) struct RunState<'a> {
    /// Whether it is to end early.
    stop: &'a (dyn Fn() -> bool + Sync),
    pub(crate) completed: AtomicU64,
    pub(crate) failed: AtomicU64,
    /// Of those that failed, those of which nobody took the connection, or who took it does not speak TLS.
    unserved: AtomicU64,
    gave_up: AtomicBool,
    pub(crate) latencies: Latencies,
    /// Threads that have begun their last connection.
    pub(crate) draining: AtomicUsize,
    /// Is woken by what it should not miss.
    pub(crate) watching: thread::Thread,
}

/// One thread's part.
pub(crate) struct Worker<'a> {
    options: &'a LoadOptions,
    state: &'a RunState<'a>,
    epoch: Instant,
    poll: Poll,
    /// In an open loop.
    alarm: Option<Alarm>,
    shared: LoadShared,
    connections: Vec<Connection>,
    free: Vec<usize>,
    deadlines: Deadlines,
    buffer: Vec<u8>,
    arrivals: Arrivals,
    kinds: Turns,
    /// For each kind its own, so that every kind has its share of every name.
    names: Vec<Turns>,
    summary: Summary,
    /// How many may still begin, where the load has a count.
    left: Option<u64>,
    failures_in_a_row: u32,
    not_before: Nanos,
}

impl<'a> RunState<'a> {
    /// Watched by this thread.
    pub(crate) fn new(stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self {
            stop,
            completed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            unserved: AtomicU64::new(0),
            gave_up: AtomicBool::new(false),
            latencies: Latencies::default(),
            draining: AtomicUsize::new(0),
            watching: thread::current(),
        }
    }

    /// Whether all threads are to end early.
    fn stops(&self) -> bool {
        self.gave_up.load(Ordering::Relaxed) || (self.stop)()
    }

    /// Gives up a target that no connection has reached in this time: more of them would tell nothing else.
    pub(crate) fn give_up_where_nobody_serves(&self, elapsed: Duration) {
        let [completed, failed, unserved] =
            [&self.completed, &self.failed, &self.unserved].map(|count| count.load(Ordering::Relaxed));
        if elapsed >= PATIENCE && completed == 0 && failed > 0 && unserved == failed {
            self.gave_up.store(true, Ordering::Relaxed);
        }
    }
}

impl<'a> Worker<'a> {
    /// Makes everything that a thread needs, so that nothing is made while it runs.
    pub(crate) fn new(options: &'a LoadOptions, state: &'a RunState<'a>, index: usize) -> io::Result<Self> {
        let arrivals = Arrivals::of_thread(options, index);
        let places = share(options.most_connections() as u64, options.threads, index).max(1) as usize;
        let sessions = share(options.sessions as u64, options.threads, index) as usize;
        let kinds: Vec<Kind> = options.mix.iter().map(|(kind, _)| *kind).collect();
        let shared =
            LoadShared::new(&options.tls, sessions, &kinds).map_err(|fault| io::Error::other(fault.name.to_string()))?;
        let poll = Poll::new()?;
        let alarm = match arrivals {
            Arrivals::Open(_) => Some(Alarm::new(poll.registry())?),
            Arrivals::Closed { .. } => None,
        };
        Ok(Self {
            options,
            state,
            epoch: Instant::now(),
            poll,
            alarm,
            connections: (0..places).map(|_| Connection::new(options)).collect(),
            shared,
            free: (0..places).rev().collect(),
            deadlines: Deadlines::new(places),
            buffer: vec![0; BUFFER],
            arrivals,
            kinds: Turns::new(options.mix.iter().map(|(_, weight)| *weight), index),
            names: options
                .mix
                .iter()
                .map(|_| Turns::new(options.tls.server_names.iter().map(|it| it.weight), index))
                .collect(),
            summary: Summary { stages: StageSummaries::of(options), ..Summary::new() },
            left: match options.end {
                LoadEnd::Count(count) => Some(share(count, options.threads, index)),
                LoadEnd::After(_) => None,
            },
            failures_in_a_row: 0,
            not_before: Nanos(0),
        })
    }

    /// Makes connections until the end, and lets those that run come to theirs. Arrivals are due from `epoch` on: what was made
    /// before makes none of them late.
    ///
    /// It stays a function of its own, so that a profile can tell what a connection costs.
    #[inline(never)]
    pub(crate) fn run(mut self, epoch: Instant) -> io::Result<Summary> {
        self.epoch = epoch;
        let mut events = Events::with_capacity(EVENTS);
        let mut drain_from = None;
        let mut stopped_at = None;
        let spent = Spent::until_now();
        loop {
            let now = self.now();
            if drain_from.is_none() {
                if self.is_over(now) {
                    self.begin_last(now);
                    self.summary.busy = spent.since();
                    self.state.draining.fetch_add(1, Ordering::Relaxed);
                    self.state.watching.unpark();
                    drain_from = Some(now);
                } else {
                    self.begin_due(now);
                }
            }
            if drain_from.is_some() && stopped_at.is_none() && self.state.stops() {
                stopped_at = Some(now);
            }
            self.expire(now);
            let drain_until = drain_from.map(|from| self.drain_until(from, stopped_at));
            if drain_until.is_some_and(|until| self.running() == 0 || now >= until) {
                break;
            }
            let mut timeout = self.timeout(self.now(), drain_until.unwrap_or(Nanos(u64::MAX)));
            if let Some(alarm) = &self.alarm
                && timeout < SLICE
                && !timeout.is_zero()
            {
                alarm.set(timeout)?;
                timeout = SLICE;
            }
            match self.poll.poll(&mut events, Some(timeout)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                self.proceed(event.token().0, event.is_read_closed() || event.is_error());
            }
        }
        self.cut_off();
        self.summary.wanted_groups.extend(self.shared.wanted_groups());
        Ok(self.summary)
    }

    fn now(&self) -> Nanos {
        Nanos::from(self.epoch.elapsed())
    }

    /// What began before this is counted apart.
    fn warmup(&self) -> Nanos {
        Nanos::from(self.options.warmup)
    }

    fn running(&self) -> usize {
        self.connections.len().saturating_sub(self.free.len())
    }

    fn is_over(&self, now: Nanos) -> bool {
        let by_time = match self.options.end {
            LoadEnd::After(duration) => now >= Nanos::from(self.options.warmup + duration),
            LoadEnd::Count(_) => self.left == Some(0),
        };
        by_time || self.state.stops()
    }

    /// When what still runs is cut off. Where a count ends the load, those that run are part of it.
    fn drain_until(&self, from: Nanos, stopped_at: Option<Nanos>) -> Nanos {
        let most = from + Nanos::from(self.options.timeout);
        let is_answered = self.state.completed.load(Ordering::Relaxed) > 0;
        let hangs_since = match self.options.end {
            LoadEnd::After(_) if !is_answered => Some(from),
            _ => stopped_at,
        };
        hangs_since.map_or(most, |since| most.min(since + Nanos::from(GRACE)))
    }

    /// Begins what is due, and in a closed loop what there is a place for.
    fn begin_due(&mut self, now: Nanos) {
        for begun in 0.. {
            if self.left == Some(0) || self.free.is_empty() {
                return;
            }
            let intended = match &self.arrivals {
                Arrivals::Closed { .. } => {
                    let places = self.arrivals.open_places(self.connections.len(), now);
                    if self.running() >= places || now < self.not_before || begun >= MOST_AT_ONCE {
                        return;
                    }
                    now
                }
                // Where each is refused at once, others would come due faster than they begin.
                Arrivals::Open(open) if open.due() > now || begun >= MOST_AT_ONCE => return,
                Arrivals::Open(open) => open.due(),
            };
            if let Arrivals::Open(open) = &mut self.arrivals {
                open.advance();
            }
            self.begin(intended);
        }
    }

    fn begin(&mut self, intended: Nanos) {
        let Some(place) = self.free.pop() else { return };
        let kind = self.kinds.next();
        let name = self.names.get_mut(kind).map_or(0, Turns::next);
        let kind = self.options.mix.get(kind).map_or(Kind::Full, |(kind, _)| *kind);
        self.summary.begun += 1;
        self.summary.due += u64::from(intended >= self.warmup());
        let (epoch, warmup) = (self.epoch, self.warmup());
        let Some(connection) = self.connections.get_mut(place) else { return };
        let now = || Nanos::from(epoch.elapsed());
        let begun = connection.begin(&mut self.shared, self.options, ConnectionPlan { kind, name }, intended, now);
        if let Some(left) = &mut self.left
            && connection.begun() >= warmup
        {
            *left = left.saturating_sub(1);
        }
        let begun = match begun {
            Ok(begun) => begun,
            Err(fault) => return self.fail(place, &fault),
        };
        self.deadlines.add(place, connection.begun() + Nanos::from(self.options.timeout));
        let registered = connection.watch(self.poll.registry(), Token(place), begun);
        if registered.is_err() {
            self.fail(place, &Fault::new(FaultName::DescriptorLimit));
        }
    }

    fn proceed(&mut self, place: usize, ended: bool) {
        let epoch = self.epoch;
        let now = || Nanos::from(epoch.elapsed());
        let Some(connection) = self.connections.get_mut(place) else { return };
        match connection.proceed(&mut self.shared, &mut self.buffer, ended, now) {
            Ok(false) => {
                if connection.watch_for_room(self.poll.registry(), Token(place)).is_err() {
                    self.fail(place, &Fault::new(FaultName::DescriptorLimit));
                }
            }
            Ok(true) => self.complete(place),
            Err(fault) => self.fail(place, &fault),
        }
    }

    fn complete(&mut self, place: usize) {
        let now = self.now();
        let warmup = self.warmup();
        if let Some((connection, facts)) = self.connections.get(place).and_then(|it| Some((it, it.facts()?))) {
            self.state.latencies.add(now.since(connection.begun()));
            self.summary.resumed += u64::from(facts.kind.is_resumption());
            self.summary.see(facts);
            if let Some(answered) = connection.answered() {
                self.summary.keep_answer(connection.begun(), answered);
            }
            self.summary.stages.complete(facts.kind, connection.intended(), now);
            if connection.begun() < warmup {
                self.summary.warmup += 1;
            } else {
                let at = now.since(warmup);
                let in_time = match self.options.end {
                    LoadEnd::After(duration) => at <= Nanos::from(duration),
                    LoadEnd::Count(_) => true,
                };
                self.summary.complete(&Completion {
                    kind: facts.kind,
                    phases: connection.phases(now),
                    from_intended: matches!(self.arrivals, Arrivals::Open(_)).then(|| now.since(connection.intended())),
                    at,
                    in_time,
                    statuses: connection.statuses(),
                });
                self.summary.primed += u64::from(connection.asked() != Kind::Full && !facts.session_offered);
                if !self.options.tls.alpn.is_empty() {
                    self.summary.count_protocol(facts.alpn);
                }
                self.summary.refused += u64::from(facts.session_offered && facts.kind == Kind::Full);
                let is_without_ticket = facts.kind == Kind::Ticket && facts.tickets.count == 0;
                let is_tls13 = facts.version == Version::Tls13;
                self.summary.without_ticket += u64::from(in_time && is_without_ticket && is_tls13);
            }
        }
        self.failures_in_a_row = 0;
        self.summary.failed_since = 0;
        self.state.completed.fetch_add(1, Ordering::Relaxed);
        self.release(place, End::Completed);
    }

    fn fail(&mut self, place: usize, fault: &Fault) {
        let connection = self.connections.get(place).map(|connection| (connection.begun(), connection.intended()));
        let is_warmup = connection.is_some_and(|(begun, _)| begun < self.warmup());
        self.summary.fail(fault, is_warmup);
        if let Some((_, intended)) = connection {
            self.summary.stages.fail(intended);
        }
        let is_unserved = matches!(fault.name, FaultName::ConnectionRefused | FaultName::NotTls);
        self.state.unserved.fetch_add(u64::from(is_unserved), Ordering::Relaxed);
        self.state.failed.fetch_add(1, Ordering::Relaxed);
        let pause = PAUSES[0].saturating_mul(1 << self.failures_in_a_row.min(10)).min(PAUSES[1]);
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        self.not_before = self.now() + Nanos::from(pause);
        self.release(place, End::Failed);
        let has_offered = std::mem::take(&mut self.shared.has_failed_with_offer);
        self.summary.failed_offers += u64::from(has_offered && !is_warmup && fault.name.is_the_targets());
    }

    fn release(&mut self, place: usize, how: End) {
        self.deadlines.remove(place);
        let another_follows = self.is_another_due();
        if let Some(connection) = self.connections.get_mut(place) {
            connection.end(&mut self.shared, self.options, how, another_follows);
            self.free.push(place);
        }
    }

    /// Whether the next connection begins as soon as there is a place for it.
    fn is_another_due(&self) -> bool {
        self.left != Some(0)
            && match &self.arrivals {
                Arrivals::Closed { .. } => true,
                Arrivals::Open(open) => open.due() <= self.now(),
            }
    }

    fn expire(&mut self, now: Nanos) {
        while let Some(place) = self.deadlines.take_expired(now) {
            let fault = self.connections.get(place).map_or(FaultName::Timeout, Connection::timeout);
            self.fail(place, &Fault::new(fault));
        }
    }

    /// What was due before the end begins where there is a place for it; what finds none is counted as what it is.
    fn begin_last(&mut self, now: Nanos) {
        let LoadEnd::After(duration) = self.options.end else { return };
        if matches!(self.arrivals, Arrivals::Closed { .. }) {
            return;
        }
        let end = Nanos::from(self.options.warmup + duration).min(now);
        if self.state.stops() {
            // Somebody has seen enough: nothing begins, and what would have is not missed.
            if !self.free.is_empty() {
                return;
            }
        } else {
            // As many as there are places: more only where each is refused at once.
            for _ in 0..self.connections.len().div_ceil(MOST_AT_ONCE) {
                self.begin_due(Nanos(end.0.saturating_sub(1)));
            }
        }
        if let Arrivals::Open(open) = &mut self.arrivals {
            self.summary.warmup_not_started = open.pass_over(end.min(Nanos::from(self.options.warmup)));
            self.summary.not_started = self.summary.stages.pass_over(open, end) + open.pass_over(end);
            self.summary.due += self.summary.not_started;
        }
    }

    fn cut_off(&mut self) {
        // Who had all the time that it may take is the target's failure, and not the reader's who stopped it.
        self.summary.failed_since += if self.state.stops() { 0 } else { self.running() as u64 };
        for place in 0..self.connections.len() {
            if self.deadlines.contains(place) {
                self.fail(place, &Fault::new(FaultName::CutOff));
            }
        }
    }

    fn timeout(&self, now: Nanos, drain_until: Nanos) -> Duration {
        let next = match &self.arrivals {
            _ if drain_until != Nanos(u64::MAX) => drain_until,
            Arrivals::Open(open) if !self.free.is_empty() => open.due(),
            Arrivals::Closed { .. } if !self.free.is_empty() => self.not_before.max(now + Nanos(1_000_000)),
            _ => Nanos(u64::MAX),
        };
        let next = next.min(self.deadlines.next().unwrap_or(Nanos(u64::MAX)));
        Duration::from(next.since(now)).min(SLICE)
    }
}
