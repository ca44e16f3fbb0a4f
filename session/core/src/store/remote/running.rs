use std::fmt;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustls::time_provider::TimeProvider;
use rustls_pki_types::UnixTime;
use tokio::runtime::Builder;

use super::backend::{StoreBackend, StoreConnection, Write};
use super::config::RemoteConfig;
use super::keeper::{Keeper, Stop};
use super::queue::Queue;
use super::start_error::StartError;
use super::state::{State, unanswered};
use super::status::StoreStatus;
use crate::coordination::provisional;
use crate::metrics::{RingState, StoreOperation};
use crate::random::SystemRandom;
use crate::ring_handle::RingHandle;
use crate::store::shared::{Fetch, Lookup, SharedStore, StoreKey, Written};

/// A store that is used over connections of one kind, with a thread of its own that keeps the connection and rotates the ring. The
/// thread ends with the last clone of the store and of the ring's handle.
pub struct RemoteStore<C> {
    state: Arc<State<C>>,
    clock: Arc<dyn TimeProvider>,
    /// It keeps the thread.
    ring: RingHandle,
}

/// The thread, which ends with this.
#[derive(Debug)]
struct Running {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl<C: StoreConnection> RemoteStore<C> {
    /// Starts to use a store, and returns it with the ring that its nodes share.
    ///
    /// Waits for the first connection up to [`RemoteConfig::start`]. Without one it begins all the same, with a ring of its
    /// own until the store is there. What a store refuses later is in [`RemoteStore::status`], the metrics and the log, and all else
    /// goes on.
    ///
    /// # Errors
    /// [`StartError`]: what no waiting would help. [`StartError::Refused`] names a command that the store refuses and what to
    /// change, unless the store was not there in time.
    pub fn start<B>(backend: B, config: RemoteConfig) -> Result<(Self, RingHandle), StartError>
    where
        B: StoreBackend<Connection = C>,
    {
        let period = config.rotation.period();
        if config.refresh.saturating_mul(4) > period {
            return Err(StartError::Refresh { refresh: config.refresh, period });
        }
        let now = config.clock.current_time().unwrap_or_else(UnixTime::now);
        let ring = RingHandle::new(provisional(&config.rotation, now, &SystemRandom)?);
        ring.report_to(Arc::clone(&config.metrics));
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (queue, writes) = Queue::new(config.queue, config.queue_bytes);
        let state = Arc::new(State::new(&config, runtime.handle().clone(), queue, &ring));
        let (wait, clock) = (config.start, Arc::clone(&config.clock));
        let stop = Stop::default();
        let (ready, is_ready) = mpsc::channel();
        let keeper = Keeper::new(Arc::clone(&state), backend, config, stop.clone(), ready);
        let (writer, thread_stop) = (super::writer::run(Arc::clone(&state), writes), stop.clone());
        let run = move || {
            runtime.block_on(async {
                tokio::spawn(writer);
                tokio::spawn(keeper.run());
                thread_stop.stopped().await;
            });
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("session-store".to_owned()).spawn(run)?;
        ring.keep(Arc::new(Running { stop, thread: Some(thread) }));
        match is_ready.recv_timeout(wait) {
            Ok(Err(refusal)) => Err(StartError::Refused(refusal)),
            // In time or not.
            Ok(Ok(())) | Err(_) => Ok((Self { state, clock, ring: ring.clone() }, ring)),
        }
    }

    /// Whether there is a connection to the store now.
    pub fn is_connected(&self) -> bool {
        self.state.journal.is_connected()
    }

    /// How the store is: all that is known, for a health endpoint.
    pub fn status(&self) -> StoreStatus {
        let now = self.clock.current_time().unwrap_or_else(UnixTime::now);
        let ring = RingState::of(&self.ring.load(now), now);
        let journal = &self.state.journal;
        StoreStatus {
            is_connected: journal.is_connected(),
            is_asked: !self.state.is_paused(),
            refusals: journal.refusals(),
            has_other_keys: journal.has_other_keys(),
            last_error: journal.last_error(),
            retries: journal.retries(),
            ring,
            ring_age: ring.since.map(|since| Duration::from_secs(now.as_secs().saturating_sub(since.as_secs()))),
        }
    }
}

impl<C: StoreConnection> SharedStore for RemoteStore<C> {
    fn fetch(&self, lookups: Vec<Lookup>) -> Fetch {
        let started = Instant::now();
        let Some((connection, permit)) = self.state.admit() else {
            self.state.metrics.store(StoreOperation::Fetch, started.elapsed(), false);
            return Box::pin(std::future::ready(unanswered(&lookups)));
        };
        // On the store's own thread: whoever waits may be blocking, or on another runtime.
        let state = Arc::clone(&self.state);
        let keys = lookups.clone();
        let task = self.state.runtime.spawn(async move { state.ask(connection, permit, lookups, started).await });
        Box::pin(async move { task.await.unwrap_or_else(|_ended| unanswered(&keys)) })
    }

    fn is_sure(&self) -> bool {
        self.state.is_sure(Instant::now())
    }

    fn put(&self, key: StoreKey, entry: Vec<u8>, lifetime: Duration) -> Option<Written> {
        let written = self.state.queue.push(Write { key: self.state.key(&key), entry, lifetime })?;
        if self.state.is_paused() {
            return Some(Box::pin(std::future::ready(())));
        }
        Some(Box::pin(async move { drop(written.await) }))
    }
}

impl<C: StoreConnection> fmt::Debug for RemoteStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteStore").field("is_connected", &self.is_connected()).finish_non_exhaustive()
    }
}

// Not derived: that would ask for a connection that is cloned.
impl<C> Clone for RemoteStore<C> {
    fn clone(&self) -> Self {
        Self { state: Arc::clone(&self.state), clock: Arc::clone(&self.clock), ring: self.ring.clone() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        // Its own tasks may hold the last handle of the ring for a moment.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            // It panics nowhere.
            let _ = thread.join();
        }
    }
}
