//! What handshakes and the store's own tasks share: the connection, and one question over it within its budget.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use redis::{ErrorKind, RedisResult, ServerErrorKind};
use reprise_session::RingHandle;
use reprise_session::metrics::{Metrics, StoreOperation};
use reprise_session::store::{Answer, Answers, Lookup, StoreKey};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use crate::breaker::Breaker;
use crate::config::ValkeyConfig;
use crate::connection::Connection;
use crate::queue::Queue;
use crate::strike::{Identity, StrikeRegister};

/// The store as both see it.
pub(crate) struct Shared {
    pub(crate) runtime: Handle,
    connection: RwLock<Option<Connection>>,
    /// The connection has failed: the keeper is to make another.
    pub(crate) broken: Notify,
    in_flight: Arc<Semaphore>,
    breaker: Mutex<Breaker>,
    strikes: Mutex<StrikeRegister>,
    pub(crate) queue: Queue,
    pub(crate) prefix: Vec<u8>,
    budget: Duration,
    pub(crate) metrics: Arc<dyn Metrics>,
    pub(crate) ring: RingHandle,
    pub(crate) is_connected: AtomicBool,
}

impl Shared {
    pub(crate) fn new(config: &ValkeyConfig, runtime: Handle, queue: Queue, ring: RingHandle) -> Self {
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
    pub(crate) fn admit(&self, now: Instant) -> Option<(Connection, OwnedSemaphorePermit)> {
        let connection = self.connection()?;
        let permit = Arc::clone(&self.in_flight).try_acquire_owned().ok()?;
        lock(&self.breaker).allows(now).then_some((connection, permit))
    }

    /// Asks for all at once, and takes what comes within the budget. What comes later is lost, and it was taken: that is a
    /// full handshake more, and no session twice.
    pub(crate) async fn ask(
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
    pub(crate) fn key(&self, key: &StoreKey) -> Vec<u8> {
        [&self.prefix[..], b":s:", key.as_bytes()].concat()
    }
}

/// No handshake waits longer for anything, whatever the budget: timers do not count for ever.
const LONGEST_BUDGET: Duration = Duration::from_secs(86_400);

/// A command's answer, whose value does not matter.
pub(crate) type Done = RedisResult<()>;

pub(crate) fn unanswered(lookups: &[Lookup]) -> Answers {
    Answers::new(lookups.iter().map(|lookup| (lookup.key(), Answer::Unanswered)).collect())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use redis::aio::MultiplexedConnection;
    use redis::{AsyncConnectionConfig, Client};
    use reprise_session::coordination::provisional;
    use reprise_session::{KeyEncryptionKeys, Random, Rotation, SystemRandom};
    use rustls_pki_types::UnixTime;
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
        let shared = Shared::new(&config, Handle::current(), Queue::new(1, 1000).0, ring);
        // The other end of the connection is there, and never says anything.
        let (ours, _theirs) = tokio::io::duplex(1 << 16);
        let settings = Client::open(url).unwrap().get_connection_info().redis_settings().clone().set_skip_set_lib_name();
        let connecting = MultiplexedConnection::new_with_config(&settings, ours, AsyncConnectionConfig::new());
        let (connection, driver) = connecting.await.unwrap();
        tokio::spawn(driver);

        // This clock stands still but for timers.
        let begun = time::Instant::now();
        let permit = Arc::clone(&shared.in_flight).try_acquire_owned().unwrap();
        let lookups = vec![Lookup::Take(StoreKey::new([1; 32])), Lookup::Get(StoreKey::new([2; 32]))];
        let answers = shared.ask(Connection::One(connection), permit, lookups, begun.into_std()).await;
        assert!(answers.answers.is_empty() && !answers.early_data);
        let waited = begun.elapsed();
        assert!((BUDGET..BUDGET + Duration::from_millis(3)).contains(&waited), "{waited:?}");
    }
}
