//! What handshakes and the store's own tasks share: the connection, and one question over it within its budget.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::action::Action;
use super::backend::{Read, StoreConnection, StoreError};
use super::breaker::{Breaker, Failure};
use super::budget::within;
use super::config::RemoteConfig;
use super::queue::Queue;
use super::status::{Journal, lock};
use super::strike::{StoreIdentity, StrikeRegister};
use crate::metrics::{Metrics, StoreOperation};
use crate::ring_handle::{RingHandle, WeakRingHandle};
use crate::store::shared::{Answer, Answers, Lookup, StoreKey};

/// Of an entry, in bytes: more than any session takes.
const LARGEST: usize = 64 * 1024;

/// The store as both see it.
pub(crate) struct State<C> {
    pub(crate) runtime: Handle,
    connection: RwLock<Option<C>>,
    /// The connection has failed: the keeper is to make another.
    is_broken: AtomicBool,
    /// The keeper has something to do: to make another connection, or to find out when the store answers again.
    pub(crate) trouble: Notify,
    in_flight: Arc<Semaphore>,
    breaker: Mutex<Breaker>,
    strikes: Mutex<StrikeRegister>,
    pub(crate) queue: Queue,
    prefix: String,
    pub(crate) budget: Duration,
    pub(crate) metrics: Arc<dyn Metrics>,
    pub(crate) journal: Journal,
    /// The ring keeps the thread, and this its tasks.
    pub(crate) ring: WeakRingHandle,
}

impl<C: StoreConnection> State<C> {
    pub(crate) fn new(config: &RemoteConfig, runtime: Handle, queue: Queue, ring: &RingHandle) -> Self {
        Self {
            runtime,
            connection: RwLock::new(None),
            is_broken: AtomicBool::new(false),
            trouble: Notify::new(),
            in_flight: Arc::new(Semaphore::new(config.in_flight)),
            breaker: Mutex::new(Breaker::new(config.failures)),
            strikes: Mutex::new(StrikeRegister::new(config.window)),
            queue,
            prefix: config.prefix.clone(),
            budget: config.budget,
            metrics: ring.reported(),
            journal: Journal::new(ring.reported()),
            ring: ring.downgrade(),
        }
    }

    /// Whether a ClientHello may ask at all, and whom.
    pub(crate) fn admit(&self) -> Option<(C, OwnedSemaphorePermit)> {
        if self.is_paused() {
            return None;
        }
        let connection = self.connection()?;
        let permit = Arc::clone(&self.in_flight).try_acquire_owned().ok()?;
        Some((connection, permit))
    }

    /// Asks for all at once, and takes what comes within the budget. What comes later is lost, and it was taken: that is a
    /// full handshake more, and no session twice.
    pub(crate) async fn ask(
        &self,
        mut connection: C,
        _permit: OwnedSemaphorePermit,
        lookups: Vec<Lookup>,
        started: Instant,
    ) -> Answers {
        let reads: Vec<Read> = lookups.iter().map(|lookup| self.read_of(lookup)).collect();
        let answers = match within(self.budget, connection.read(&reads)).await {
            Some(answers) => {
                let takes = matches!(reads.first(), Some(Read::Take(_)));
                self.note(StoreOperation::Fetch, if takes { Action::Take } else { Action::Get }, answers)
            }
            None => {
                self.silent();
                None
            }
        };
        let is_answered = answers.is_some();
        let now = Instant::now();
        if is_answered {
            self.answered();
        }
        self.metrics.store(StoreOperation::Fetch, now.duration_since(started), is_answered);
        let found = |found: Option<Vec<u8>>| match found {
            Some(entry) if entry.len() <= LARGEST => Answer::Found(entry),
            // Nobody here wrote it.
            _ => Answer::Absent,
        };
        let answers = answers.unwrap_or_default().into_iter().map(found);
        let answers = lookups.iter().map(Lookup::key).zip(answers).collect::<Vec<(StoreKey, Answer)>>();
        Answers::new(answers).early_data(is_answered && self.is_sure(now))
    }

    /// What an action came to, if to an answer. Otherwise it is known from here on: that the store refuses it, or that the
    /// connection is of no use.
    pub(crate) fn note<T>(&self, operation: StoreOperation, action: Action, result: Result<T, StoreError>) -> Option<T> {
        match result {
            Ok(answer) => {
                self.journal.accepted(operation, action);
                return Some(answer);
            }
            Err(StoreError::Refused(refusal)) => self.journal.refused(operation, action, refusal),
            Err(StoreError::Failed(why)) => self.broken(why),
        }
        // What is not written or not agreed on keeps nobody from reading.
        if operation == StoreOperation::Fetch {
            self.failed(Failure::Error);
        }
        None
    }

    /// The connection is dead, or leads to a master that became a replica.
    fn broken(&self, why: String) {
        self.journal.failed(why);
        self.is_broken.store(true, Ordering::Relaxed);
        self.trouble.notify_one();
    }

    pub(crate) fn take_broken(&self) -> bool {
        self.is_broken.swap(false, Ordering::Relaxed)
    }

    /// The store said nothing within the budget.
    pub(crate) fn silent(&self) {
        self.failed(Failure::Silence);
    }

    fn failed(&self, failure: Failure) {
        // That opens it, and no more: whether the connection is dead, the keeper finds out.
        if lock(&self.breaker).failed(failure, Instant::now()) {
            self.journal.paused(true);
            self.trouble.notify_one();
        }
    }

    /// The store has answered in time.
    pub(crate) fn answered(&self) {
        if lock(&self.breaker).answered() {
            self.journal.paused(false);
        }
    }

    /// Whether nobody asks.
    pub(crate) fn is_paused(&self) -> bool {
        lock(&self.breaker).is_open()
    }

    /// Whether the store answers what a ClientHello asks, within its budget. `None`: it says nothing.
    pub(crate) async fn probe(&self, connection: &mut C) -> Option<bool> {
        let reads = [Read::Take(self.probe_key())];
        let answered = within(self.budget, connection.read(&reads)).await?;
        Some(self.note(StoreOperation::Fetch, Action::Take, answered).is_some())
    }

    /// A key that is never there for long: to find out what the store allows.
    pub(crate) fn probe_key(&self) -> Vec<u8> {
        [self.prefix.as_bytes(), b":probe"].concat()
    }

    /// Where the ring is that is sealed under the key with this identity.
    pub(crate) fn ring_key(&self, id: &str) -> Vec<u8> {
        [self.prefix.as_bytes(), b":ring:", id.as_bytes()].concat()
    }

    /// Where it stands whose ring was published last.
    pub(crate) fn publisher_key(&self) -> Vec<u8> {
        [self.prefix.as_bytes(), b":ring"].concat()
    }

    /// Whether what is taken from the store is taken once.
    pub(crate) fn is_sure(&self, now: Instant) -> bool {
        lock(&self.strikes).is_sure(now)
    }

    pub(crate) fn connection(&self) -> Option<C> {
        self.connection.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The store was looked at, and is this one; `None` if nobody can say.
    pub(crate) fn seen(&self, identity: Option<StoreIdentity>) {
        lock(&self.strikes).seen(identity, Instant::now());
    }

    /// A connection was made.
    pub(crate) fn connected(&self, connection: C) {
        *self.connection.write().unwrap_or_else(PoisonError::into_inner) = Some(connection);
        self.journal.connected();
    }

    pub(crate) fn disconnected(&self) {
        *self.connection.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.journal.disconnected();
    }

    fn read_of(&self, lookup: &Lookup) -> Read {
        match lookup {
            Lookup::Get(key) => Read::Get(self.key(key)),
            Lookup::Take(key) => Read::Take(self.key(key)),
        }
    }

    /// `PREFIX:s:` and 32 bytes.
    pub(crate) fn key(&self, key: &StoreKey) -> Vec<u8> {
        [self.prefix.as_bytes(), b":s:", key.as_bytes()].concat()
    }
}

pub(crate) fn unanswered(lookups: &[Lookup]) -> Answers {
    Answers::new(lookups.iter().map(|lookup| (lookup.key(), Answer::Unanswered)).collect())
}
