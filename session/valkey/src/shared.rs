//! What handshakes and the store's own tasks share: the connection, and one question over it within its budget.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use redis::{RedisError, RedisResult};
use reprise_session::RingHandle;
use reprise_session::metrics::{Metrics, StoreOperation};
use reprise_session::store::{Answer, Answers, Lookup, StoreKey};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::breaker::{Breaker, Failure};
use crate::budget::within;
use crate::config::ValkeyConfig;
use crate::connection::Connection;
use crate::queue::Queue;
use crate::refusal::{Refusal, User};
use crate::status::{Journal, lock};
use crate::strike::{Identity, StrikeRegister};

/// Of an entry, in bytes: more than any session takes.
const LARGEST: usize = 64 * 1024;

/// The store as both see it.
pub(crate) struct Shared {
    pub(crate) runtime: Handle,
    connection: RwLock<Option<Connection>>,
    /// The connection has failed: the keeper is to make another.
    is_broken: AtomicBool,
    /// The keeper has something to do: to make another connection, or to find out when the store answers again.
    pub(crate) trouble: Notify,
    in_flight: Arc<Semaphore>,
    breaker: Mutex<Breaker>,
    strikes: Mutex<StrikeRegister>,
    pub(crate) queue: Queue,
    user: User,
    pub(crate) budget: Duration,
    pub(crate) metrics: Arc<dyn Metrics>,
    pub(crate) journal: Journal,
    pub(crate) ring: RingHandle,
}

impl Shared {
    pub(crate) fn new(config: &ValkeyConfig, user: String, runtime: Handle, queue: Queue, ring: RingHandle) -> Self {
        Self {
            runtime,
            connection: RwLock::new(None),
            is_broken: AtomicBool::new(false),
            trouble: Notify::new(),
            in_flight: Arc::new(Semaphore::new(config.in_flight)),
            breaker: Mutex::new(Breaker::new(config.failures)),
            strikes: Mutex::new(StrikeRegister::new(config.window)),
            queue,
            user: User { name: user, prefix: config.prefix.clone() },
            budget: config.budget,
            metrics: ring.reported(),
            journal: Journal::new(ring.reported()),
            ring,
        }
    }

    /// Whether a ClientHello may ask at all, and whom.
    pub(crate) fn admit(&self) -> Option<(Connection, OwnedSemaphorePermit)> {
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
        mut connection: Connection,
        _permit: OwnedSemaphorePermit,
        lookups: Vec<Lookup>,
        started: Instant,
    ) -> Answers {
        let command = |lookup| redis::cmd(command_of(lookup)).arg(self.key(&lookup.key())).to_owned();
        let asked = connection.ask_all::<Option<Vec<u8>>>(lookups.iter().map(command).collect());
        let answers = match within(self.budget, asked).await {
            Some(answers) => {
                let command = lookups.first().map_or("GET", command_of);
                self.note(StoreOperation::Fetch, command, answers)
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

    /// What a command came to, if to an answer. Otherwise it is known from here on: that the store refuses it, or that the
    /// connection is of no use.
    pub(crate) fn note<T>(&self, operation: StoreOperation, command: &'static str, result: RedisResult<T>) -> Option<T> {
        let error = match result {
            Ok(answer) => {
                self.journal.accepted(operation, command);
                return Some(answer);
            }
            Err(error) => error,
        };
        match Refusal::of(command, &error, &self.user) {
            Some(refusal) => self.journal.refused(operation, refusal),
            None => self.broken(&error),
        }
        // What is not written or not agreed on keeps nobody from reading.
        if operation == StoreOperation::Fetch {
            self.failed(Failure::Error);
        }
        None
    }

    /// What an error in making a connection says of the store.
    pub(crate) fn refusal(&self, error: &RedisError) -> Option<Refusal> {
        Refusal::of("AUTH", error, &self.user)
    }

    /// The connection is dead, or leads to a master that became a replica.
    fn broken(&self, error: &RedisError) {
        self.journal.failed(error.to_string());
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
    pub(crate) async fn probe(&self, connection: &mut Connection) -> Option<bool> {
        let command = redis::cmd("GETDEL").arg(self.probe_key()).to_owned();
        let asked = command.query_async::<Option<Vec<u8>>>(connection);
        let answered = within(self.budget, asked).await?;
        Some(self.note(StoreOperation::Fetch, "GETDEL", answered).is_some())
    }

    /// A key that is never there for long: to find out what the store allows.
    pub(crate) fn probe_key(&self) -> Vec<u8> {
        [self.user.prefix.as_bytes(), b":probe"].concat()
    }

    /// Where the ring is that is sealed under the key with this identity.
    pub(crate) fn ring_key(&self, id: &str) -> Vec<u8> {
        [self.user.prefix.as_bytes(), b":ring:", id.as_bytes()].concat()
    }

    /// Where it stands whose ring was published last.
    pub(crate) fn publisher_key(&self) -> Vec<u8> {
        [self.user.prefix.as_bytes(), b":ring"].concat()
    }

    /// Whether what is taken from the store is taken once.
    pub(crate) fn is_sure(&self, now: Instant) -> bool {
        lock(&self.strikes).is_sure(now)
    }

    pub(crate) fn connection(&self) -> Option<Connection> {
        self.connection.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The store was looked at, and is this one; `None` if nobody can say.
    pub(crate) fn seen(&self, identity: Option<Identity>) {
        lock(&self.strikes).seen(identity, Instant::now());
    }

    /// A connection was made.
    pub(crate) fn connected(&self, connection: Connection) {
        *self.connection.write().unwrap_or_else(PoisonError::into_inner) = Some(connection);
        self.journal.connected();
    }

    pub(crate) fn disconnected(&self) {
        *self.connection.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.journal.disconnected();
    }

    /// `PREFIX:s:` and 32 bytes.
    pub(crate) fn key(&self, key: &StoreKey) -> Vec<u8> {
        [self.user.prefix.as_bytes(), b":s:", key.as_bytes()].concat()
    }
}

fn command_of(lookup: &Lookup) -> &'static str {
    match lookup {
        Lookup::Take(_) => "GETDEL",
        _ => "GET",
    }
}

pub(crate) fn unanswered(lookups: &[Lookup]) -> Answers {
    Answers::new(lookups.iter().map(|lookup| (lookup.key(), Answer::Unanswered)).collect())
}
