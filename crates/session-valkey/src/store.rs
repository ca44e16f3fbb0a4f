use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use redis::{ErrorKind, RedisResult, ServerErrorKind};
use reprise_session::RingHandle;
use reprise_session::SystemRandom;
use reprise_session::coordination::provisional;
use reprise_session::metrics::{Metrics, StoreOperation};
use reprise_session::store::{Answer, Answers, Fetch, Lookup, SharedStore, StoreKey};
use rustls_pki_types::UnixTime;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use crate::breaker::Breaker;
use crate::config::{ValkeyConfig, ValkeyError};
use crate::connection::{Connection, Connector};
use crate::keeper::{Keeper, Stop};
use crate::strike::{Identity, StrikeRegister};
use crate::writer::{Queue, Write};

/// A store in Valkey or Redis, with a thread of its own that keeps the connection and rotates the ring. When the last clone is
/// dropped the thread ends: the ring then rotates no more, and soon has no key to seal with.
#[derive(Clone)]
#[must_use = "dropping it stops rotation"]
pub struct Valkey {
    inner: Arc<Inner>,
    _running: Arc<Running>,
}

/// What handshakes and the store's own tasks share.
pub(crate) struct Inner {
    runtime: Handle,
    connection: RwLock<Option<Connection>>,
    /// The connection has failed: the keeper is to make another.
    pub(crate) broken: Notify,
    in_flight: Arc<Semaphore>,
    breaker: Mutex<Breaker>,
    strikes: Mutex<StrikeRegister>,
    queue: Queue,
    pub(crate) prefix: Vec<u8>,
    budget: Duration,
    pub(crate) metrics: Arc<dyn Metrics>,
    pub(crate) ring: RingHandle,
    is_connected: AtomicBool,
}

/// The thread, which ends with this.
struct Running {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Valkey {
    /// Starts to use a store, and returns it with the ring that its nodes share.
    ///
    /// Waits for the first connection up to [`ValkeyConfig::start`]. Without one it begins all the same, with a ring of its
    /// own until the store is there.
    ///
    /// # Errors
    /// [`ValkeyError`]: what no waiting would help.
    pub fn start(config: ValkeyConfig) -> Result<(Self, RingHandle), ValkeyError> {
        let period = config.rotation.period();
        if config.refresh.saturating_mul(4) > period {
            return Err(ValkeyError::Refresh { refresh: config.refresh, period });
        }
        let connector =
            Connector::new(&config.topology, config.ca.as_ref()).map_err(|error| ValkeyError::Address(error.to_string()))?;
        let now = config.clock.current_time().unwrap_or_else(UnixTime::now);
        let ring = RingHandle::new(provisional(&config.rotation, now, &SystemRandom)?);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (queue, writes) = Queue::new(config.queue, config.queue_bytes);
        let inner = Arc::new(Inner::new(&config, runtime.handle().clone(), queue, ring.clone()));
        let wait = config.start;
        let stop = Stop::default();
        let (ready, is_ready) = mpsc::channel();
        let keeper = Keeper::new(Arc::clone(&inner), connector, config, stop.clone(), ready);
        let (writer, thread_stop) = (crate::writer::run(Arc::clone(&inner), writes), stop.clone());
        let run = move || {
            runtime.block_on(async {
                tokio::spawn(writer);
                tokio::spawn(keeper.run());
                thread_stop.stopped().await;
            });
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("session-store".to_owned()).spawn(run)?;
        let running = Arc::new(Running { stop, thread: Some(thread) });
        // Whether it was in time or not.
        let _ = is_ready.recv_timeout(wait);
        Ok((Self { inner, _running: running }, ring))
    }

    /// Whether there is a connection to the store now.
    pub fn is_connected(&self) -> bool {
        self.inner.is_connected.load(Ordering::Relaxed)
    }
}

impl SharedStore for Valkey {
    fn fetch(&self, lookups: Vec<Lookup>) -> Fetch {
        let started = Instant::now();
        let Some((connection, permit)) = self.inner.admit(started) else {
            self.inner.metrics.store(StoreOperation::Fetch, started.elapsed(), false);
            return Box::pin(std::future::ready(unanswered(&lookups)));
        };
        // On the store's own thread: whoever waits may be blocking, or on another runtime.
        let inner = Arc::clone(&self.inner);
        let keys = lookups.clone();
        let task = self.inner.runtime.spawn(async move { inner.ask(connection, permit, lookups, started).await });
        Box::pin(async move { task.await.unwrap_or_else(|_ended| unanswered(&keys)) })
    }

    fn put(&self, key: StoreKey, entry: Vec<u8>, lifetime: Duration) -> bool {
        self.inner.queue.push(Write { key: self.inner.key(&key), entry, lifetime })
    }
}

impl Inner {
    fn new(config: &ValkeyConfig, runtime: Handle, queue: Queue, ring: RingHandle) -> Self {
        Self {
            runtime,
            connection: RwLock::new(None),
            broken: Notify::new(),
            in_flight: Arc::new(Semaphore::new(config.in_flight)),
            breaker: Mutex::new(Breaker::new(config.failures, config.pause)),
            strikes: Mutex::new(StrikeRegister::new(config.window)),
            queue,
            prefix: config.prefix.clone().into_bytes(),
            budget: config.budget,
            metrics: Arc::clone(&config.metrics),
            ring,
            is_connected: AtomicBool::new(false),
        }
    }

    /// Whether a ClientHello may ask at all, and whom.
    fn admit(&self, now: Instant) -> Option<(Connection, OwnedSemaphorePermit)> {
        let connection = self.connection()?;
        let permit = Arc::clone(&self.in_flight).try_acquire_owned().ok()?;
        lock(&self.breaker).allows(now).then_some((connection, permit))
    }

    /// Asks for all at once, and takes what comes within the budget. What comes later is lost, and it was taken: that is a
    /// full handshake more, and no session twice.
    async fn ask(
        &self,
        connection: Connection,
        _permit: OwnedSemaphorePermit,
        lookups: Vec<Lookup>,
        started: Instant,
    ) -> Answers {
        let deadline = (started + self.budget.min(LONGEST_BUDGET)).into();
        let mut answers: Vec<(StoreKey, Answer)> = Vec::with_capacity(lookups.len());
        let mut asked = JoinSet::new();
        for lookup in &lookups {
            let command = match lookup {
                Lookup::Take(key) => redis::cmd("GETDEL").arg(self.key(key)).to_owned(),
                lookup => redis::cmd("GET").arg(self.key(&lookup.key())).to_owned(),
            };
            let (key, mut connection) = (lookup.key(), connection.clone());
            asked.spawn(async move { (key, command.query_async::<Option<Vec<u8>>>(&mut connection).await) });
        }
        let mut failed = false;
        while let Ok(Some(joined)) = timeout_at(deadline, asked.join_next()).await {
            match joined {
                Ok((key, Ok(found))) => answers.push((key, found.map_or(Answer::Absent, Answer::Found))),
                Ok((_, Err(error))) => {
                    failed = true;
                    // A master that became a replica stays connected.
                    let is_replica = error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly);
                    if is_replica || error.is_connection_dropped() {
                        self.broken.notify_one();
                    }
                }
                Err(_ended) => failed = true,
            }
        }
        let is_answered = !failed && answers.len() == lookups.len();
        let now = Instant::now();
        {
            let mut breaker = lock(&self.breaker);
            if is_answered {
                breaker.succeeded();
            } else if breaker.failed(now) {
                // It may be the connection: one that a firewall has forgotten is dead and says nothing.
                self.broken.notify_one();
            }
        }
        self.metrics.store(StoreOperation::Fetch, now.duration_since(started), is_answered);
        Answers::new(answers).early_data(is_answered && lock(&self.strikes).is_sure(now))
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
        self.is_connected.store(true, Ordering::Relaxed);
    }

    pub(crate) fn disconnected(&self) {
        *self.connection.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.is_connected.store(false, Ordering::Relaxed);
    }

    /// `PREFIX:s:` and 32 bytes.
    fn key(&self, key: &StoreKey) -> Vec<u8> {
        [&self.prefix[..], b":s:", key.as_bytes()].concat()
    }
}

impl fmt::Debug for Valkey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Valkey").field("is_connected", &self.is_connected()).finish_non_exhaustive()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // It panics nowhere.
            let _ = thread.join();
        }
    }
}

/// No handshake waits longer for anything, whatever the budget: timers do not count for ever.
const LONGEST_BUDGET: Duration = Duration::from_secs(86_400);

/// A command's answer, whose value does not matter.
pub(crate) type Done = RedisResult<()>;

fn unanswered(lookups: &[Lookup]) -> Answers {
    Answers::new(lookups.iter().map(|lookup| (lookup.key(), Answer::Unanswered)).collect())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use redis::aio::MultiplexedConnection;
    use redis::{AsyncConnectionConfig, Client};
    use reprise_session::{KeyEncryptionKeys, Random, Rotation};
    use tokio::time;

    use super::*;
    use crate::config::Topology;

    const BUDGET: Duration = Duration::from_millis(200);

    #[tokio::test(start_paused = true)]
    async fn a_silent_store_costs_the_budget_and_no_more() {
        let mut key = [0; 32];
        SystemRandom.fill(&mut key).unwrap();
        let rotation = Rotation::new(Duration::from_secs(3600)).unwrap();
        let keys = KeyEncryptionKeys::new([&key[..]]).unwrap();
        let url = "redis://unused";
        let mut config = ValkeyConfig::new(Topology::Single(url.to_owned()), rotation, keys);
        config.budget = BUDGET;
        let ring = RingHandle::new(provisional(&config.rotation, UnixTime::now(), &SystemRandom).unwrap());
        let inner = Inner::new(&config, Handle::current(), Queue::new(1, 1000).0, ring);
        // The other end of the connection is there, and never says anything.
        let (ours, _theirs) = tokio::io::duplex(1 << 16);
        let settings = Client::open(url).unwrap().get_connection_info().redis_settings().clone().set_skip_set_lib_name();
        let connecting = MultiplexedConnection::new_with_config(&settings, ours, AsyncConnectionConfig::new());
        let (connection, driver) = connecting.await.unwrap();
        tokio::spawn(driver);

        // This clock stands still but for timers.
        let begun = time::Instant::now();
        let permit = Arc::clone(&inner.in_flight).try_acquire_owned().unwrap();
        let lookups = vec![Lookup::Take(StoreKey::new([1; 32])), Lookup::Get(StoreKey::new([2; 32]))];
        let answers = inner.ask(Connection::One(connection), permit, lookups, begun.into_std()).await;
        assert!(answers.answers.is_empty() && !answers.early_data);
        let waited = begun.elapsed();
        assert!((BUDGET..BUDGET + Duration::from_millis(3)).contains(&waited), "{waited:?}");
    }
}
