use std::fmt;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use reprise_session::RingHandle;
use reprise_session::SystemRandom;
use reprise_session::coordination::provisional;
use reprise_session::metrics::{RingState, StoreOperation};
use reprise_session::store::{Fetch, Lookup, SharedStore, StoreKey, Written};
use rustls::time_provider::TimeProvider;
use rustls_pki_types::UnixTime;
use tokio::runtime::Builder;

use crate::config::{ValkeyConfig, ValkeyError};
use crate::connection::{Connector, user};
use crate::keeper::{Keeper, Stop};
use crate::queue::{Queue, Write};
use crate::shared::{Shared, unanswered};
use crate::status::StoreStatus;

/// A store in Valkey or Redis, with a thread of its own that keeps the connection and rotates the ring. When the last clone is
/// dropped the thread ends: the ring then rotates no more, and soon has no key to seal with.
#[derive(Clone)]
#[must_use = "dropping it stops rotation"]
pub struct Valkey {
    shared: Arc<Shared>,
    clock: Arc<dyn TimeProvider>,
    _running: Arc<Running>,
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
    /// own until the store is there. What a store refuses later is in [`Valkey::status`], the metrics and the log, and all else
    /// goes on.
    ///
    /// # Errors
    /// [`ValkeyError`]: what no waiting would help. [`ValkeyError::Refused`] names a command that the store refuses and what to
    /// change, unless the store was not there in time.
    pub fn start(config: ValkeyConfig) -> Result<(Self, RingHandle), ValkeyError> {
        let period = config.rotation.period();
        if config.refresh.saturating_mul(4) > period {
            return Err(ValkeyError::Refresh { refresh: config.refresh, period });
        }
        let connector =
            Connector::new(&config.topology, config.ca.as_ref()).map_err(|error| ValkeyError::Address(error.to_string()))?;
        let now = config.clock.current_time().unwrap_or_else(UnixTime::now);
        let ring = RingHandle::new(provisional(&config.rotation, now, &SystemRandom)?);
        ring.report_to(Arc::clone(&config.metrics));
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let user = user(&config.topology);
        let (queue, writes) = Queue::new(config.queue, config.queue_bytes);
        let shared = Arc::new(Shared::new(&config, user, runtime.handle().clone(), queue, ring.clone()));
        let (wait, clock) = (config.start, Arc::clone(&config.clock));
        let stop = Stop::default();
        let (ready, is_ready) = mpsc::channel();
        let keeper = Keeper::new(Arc::clone(&shared), connector, config, stop.clone(), ready);
        let (writer, thread_stop) = (crate::writer::run(Arc::clone(&shared), writes), stop.clone());
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
        match is_ready.recv_timeout(wait) {
            Ok(Err(refusal)) => Err(ValkeyError::Refused(refusal)),
            // In time or not.
            Ok(Ok(())) | Err(_) => Ok((Self { shared, clock, _running: running }, ring)),
        }
    }

    /// Whether there is a connection to the store now.
    pub fn is_connected(&self) -> bool {
        self.shared.journal.is_connected()
    }

    /// How the store is: all that is known, for a health endpoint.
    pub fn status(&self) -> StoreStatus {
        let now = self.clock.current_time().unwrap_or_else(UnixTime::now);
        let ring = RingState::of(&self.shared.ring.load(now), now);
        let journal = &self.shared.journal;
        StoreStatus {
            is_connected: journal.is_connected(),
            is_asked: !self.shared.is_paused(),
            refusals: journal.refusals(),
            has_other_keys: journal.has_other_keys(),
            last_error: journal.last_error(),
            retries: journal.retries(),
            ring,
            ring_age: ring.since.map(|since| Duration::from_secs(now.as_secs().saturating_sub(since.as_secs()))),
        }
    }
}

impl SharedStore for Valkey {
    fn fetch(&self, lookups: Vec<Lookup>) -> Fetch {
        let started = Instant::now();
        let Some((connection, permit)) = self.shared.admit() else {
            self.shared.metrics.store(StoreOperation::Fetch, started.elapsed(), false);
            return Box::pin(std::future::ready(unanswered(&lookups)));
        };
        // On the store's own thread: whoever waits may be blocking, or on another runtime.
        let shared = Arc::clone(&self.shared);
        let keys = lookups.clone();
        let task = self.shared.runtime.spawn(async move { shared.ask(connection, permit, lookups, started).await });
        Box::pin(async move { task.await.unwrap_or_else(|_ended| unanswered(&keys)) })
    }

    fn is_sure(&self) -> bool {
        self.shared.is_sure(Instant::now())
    }

    fn put(&self, key: StoreKey, entry: Vec<u8>, lifetime: Duration) -> Option<Written> {
        let written = self.shared.queue.push(Write { key: self.shared.key(&key), entry, lifetime })?;
        if self.shared.is_paused() {
            return Some(Box::pin(std::future::ready(())));
        }
        Some(Box::pin(async move { drop(written.await) }))
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
