//! Offers sessions of one place to another: by one clock, from stocks of sessions kept per place, several places at once.
//!
//! A [`Place`] is a target with all that a connection to it says: its address, the name that it is asked for, the client's identity.
//! A [`Crossing`] is given [`Order`]s, makes their connections as they come, and returns each as a typed value. What the connections
//! show of each other is concluded elsewhere.

mod connection_queue;
mod health;
mod places;
mod stock;

use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

use reprise_connection::{Fault, Target};
use reprise_model::{Asked, Nanos, Observation};

use self::connection_queue::{ConnectionQueue, Next, Taken};
use self::places::Places;
use crate::clock::Clock;
use crate::interrupt::{Interrupt, SLICE};
use crate::observer::Observer;
use crate::options::Options;

/// Where connections go and what they say: the address, the name, the client's identity.
#[derive(Clone)]
pub struct Place {
    /// The target.
    pub target: Target,
    /// How it is asked.
    pub options: Options,
}

/// How much a crossing may ask of all its places together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossingLimits {
    /// Connections in all.
    pub connections: u32,
    /// Connections begun in a second.
    pub rate: u32,
    /// How long it may take in all.
    pub time: Duration,
    /// Connections at once, each to another place.
    pub at_once: usize,
}

impl Default for CrossingLimits {
    fn default() -> Self {
        Self { connections: 600, rate: 50, time: Duration::from_secs(60), at_once: 16 }
    }
}

/// One connection to be made. Places are numbered as they were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The place that is asked.
    pub to: usize,
    /// The version, and the mechanism by which a session is offered, or asked for.
    pub asked: Asked,
    /// Whose session is offered; `None` for a full handshake.
    pub session: Option<SessionOf>,
}

impl Order {
    /// A full handshake that asks for a session of this mechanism.
    pub fn full(to: usize, asked: Asked) -> Self {
        Self { to, asked, session: None }
    }

    /// Offers the newest session of `from`. Where there is none, a full handshake with `from` is made first.
    pub fn offer(from: usize, to: usize, asked: Asked) -> Self {
        Self { to, asked, session: Some(SessionOf { place: from, connection: None }) }
    }
}

/// Which session is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionOf {
    /// The place that gave it.
    pub place: usize,
    /// The connection that gave it, by its index; `None` for the newest. One that is not there any more is not replaced.
    pub connection: Option<u32>,
}

/// One connection that was made.
#[derive(Clone, Debug)]
pub struct Crossed {
    /// The place whose session was offered; `None` for a full handshake.
    pub from: Option<usize>,
    /// The place that was asked.
    pub to: usize,
    /// The version and the mechanism.
    pub asked: Asked,
    /// Everything that was seen. Its index counts the connections of all places, and so does that of the session's origin.
    pub observation: Observation,
    /// Why it did not complete, where it did not.
    pub fault: Option<Fault>,
}

/// What ended a crossing before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrossingEnd {
    /// The limit of connections or of time.
    Limit,
    /// Ctrl-C.
    Interrupted,
}

/// What is known of one place beside its connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlaceState {
    /// Its address, once it was looked for.
    pub address: Option<std::net::SocketAddr>,
    /// What its responses say that it is.
    pub software: Option<String>,
    /// Its clock against this machine's, in milliseconds, by the date of its responses: the least and the most that fits.
    pub clock: Option<(i64, i64)>,
    /// Why it is not asked any more.
    pub given_up: Option<Fault>,
}

/// Connections to several places, and the sessions that they gave.
pub struct Crossing<'a> {
    places: Places,
    clock: Clock,
    limits: CrossingLimits,
    observer: &'a dyn Observer,
    interrupt: &'a Interrupt,
    /// Connections that will have been made, as far as that is known.
    planned: u64,
    begun: u32,
    ended: Option<CrossingEnd>,
}

impl<'a> Crossing<'a> {
    /// With these places; none is asked yet. `planned` connections are announced to the observer.
    pub fn new(
        places: Vec<Place>,
        limits: CrossingLimits,
        planned: u64,
        observer: &'a dyn Observer,
        interrupt: &'a Interrupt,
    ) -> Self {
        let clock = Clock::new();
        Self { places: Places::new(places), clock, limits, observer, interrupt, planned, begun: 0, ended: None }
    }

    /// Makes the connections of these orders: to one place one after the other in the order given, to different places at
    /// once. Those that were made, by their index; full handshakes that had to come first are among them. An order is left out
    /// whose place is given up or does not speak the version, whose session there is none of, or that is beyond the limits.
    pub fn carry_out(&mut self, orders: impl IntoIterator<Item = Order>) -> Vec<Crossed> {
        let places = std::mem::take(&mut self.places);
        let queue = ConnectionQueue::new(places, orders, self.clock, self.limits, self.begun, self.interrupt.clone());
        let (queue, freed) = (Mutex::new(queue), Condvar::new());
        let (sender, made) = mpsc::channel::<Crossed>();
        let mut all: Vec<Crossed> = Vec::new();
        std::thread::scope(|scope| {
            for _ in 0..self.limits.at_once.max(1) {
                let (queue, freed, sender) = (&queue, &freed, sender.clone());
                scope.spawn(move || work(queue, freed, &sender));
            }
            drop(sender);
            for crossed in made {
                let done = u64::from(self.begun) + all.len() as u64 + 1;
                self.observer.proceeded(done, self.planned.max(done));
                all.push(crossed);
            }
        });
        let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.begun, self.ended) = (queue.begun(), self.ended.or(queue.ended()));
        self.places = queue.into_places();
        all.sort_unstable_by_key(|crossed| crossed.observation.index);
        all
    }

    /// How many places there are.
    pub fn place_count(&self) -> usize {
        self.places.count()
    }

    /// What is known of a place beside its connections.
    pub fn state(&self, place: usize) -> PlaceState {
        self.places.state(place)
    }

    /// How many sessions of a place could be offered by this mechanism now; one of TLS 1.2 serves more than once.
    pub fn sessions(&self, place: usize, asked: Asked) -> usize {
        self.places.sessions(place, asked, self.clock.now())
    }

    /// The oldest sessions of a place that could be offered by this mechanism now.
    pub fn oldest(&self, place: usize, asked: Asked, count: usize) -> Vec<SessionOf> {
        let connections = self.places.get(place).map(|known| known.stock.connections(asked, self.clock.now()));
        let of = |connection| SessionOf { place, connection: Some(connection) };
        connections.unwrap_or_default().into_iter().take(count).map(of).collect()
    }

    /// Lets time pass, unless Ctrl-C comes.
    pub fn wait(&self, time: Duration) {
        self.clock.wait_until(self.now() + Nanos::from(time), self.interrupt);
    }

    /// How many connections may still be made.
    pub fn connections_left(&self) -> u32 {
        if self.is_over() { 0 } else { self.limits.connections.saturating_sub(self.begun) }
    }

    /// Whether no further connection is made: time is up, or Ctrl-C came.
    pub fn is_over(&self) -> bool {
        self.interrupt.is_raised() || Duration::from(self.now()) >= self.limits.time
    }

    /// What ended it before its time, where something did.
    pub fn ended(&self) -> Option<CrossingEnd> {
        self.ended
    }

    /// How many connections were begun.
    pub fn begun(&self) -> u32 {
        self.begun
    }

    /// The time by the clock of every observation, which began with the crossing.
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }
}

/// Makes one connection after the other until there is none left to make.
fn work(queue: &Mutex<ConnectionQueue>, freed: &Condvar, made: &mpsc::Sender<Crossed>) {
    let mut held = queue.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match held.next() {
            Next::Make(taken) => {
                drop(held);
                let Taken { start, .. } = *taken;
                let done = (*taken).make(start);
                held = queue.lock().unwrap_or_else(PoisonError::into_inner);
                let crossed = held.settle(done);
                freed.notify_all();
                // Nobody listens any more where the receiver has panicked.
                let _ = made.send(crossed);
            }
            Next::Wait => {
                let waited = freed.wait_timeout(held, SLICE);
                held = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            Next::Nothing => return freed.notify_all(),
        }
    }
}
