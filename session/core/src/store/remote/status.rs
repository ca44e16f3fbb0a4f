use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::action::Action;
use super::refusal::Refusal;
use crate::metrics::{Metrics, RingState, StoreEvent, StoreOperation};

/// How a store is, for a health endpoint: its `Display` has a line for each thing that is known.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoreStatus {
    /// Whether there is a connection.
    pub is_connected: bool,
    /// Whether handshakes ask; they do not while the store does not answer.
    pub is_asked: bool,
    /// What the store refuses now.
    pub refusals: Vec<Refusal>,
    /// Whether other nodes seal their rings in this store under another key-encryption key: this node shares no session with them, and
    /// one of both has the wrong key.
    pub has_other_keys: bool,
    /// What failed last, and when; it may be over long since.
    pub last_error: Option<(SystemTime, String)>,
    /// How many pauses were made because the store failed.
    pub retries: u64,
    /// The ring in use.
    pub ring: RingState,
    /// For how long the key that encrypts has done so, by this node's clock.
    pub ring_age: Option<Duration>,
}

impl StoreStatus {
    /// Whether all is well: sessions are issued and shared.
    pub fn is_healthy(&self) -> bool {
        self.is_connected
            && self.is_asked
            && self.refusals.is_empty()
            && !self.has_other_keys
            && self.ring.version > 0
            && self.ring.encrypts
    }
}

impl fmt::Display for StoreStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let connection = match (self.is_connected, self.is_asked) {
            (false, _) => "not connected",
            (true, false) => "connected, and does not answer",
            (true, true) => "connected",
        };
        writeln!(f, "store: {connection}")?;
        for refusal in &self.refusals {
            writeln!(f, "refused: {refusal}")?;
        }
        if self.has_other_keys {
            writeln!(f, "keys: other nodes have another key-encryption key")?;
        }
        if let Some((when, error)) = &self.last_error {
            let ago = when.elapsed().unwrap_or_default().as_secs();
            writeln!(f, "last error: {error}, {ago} s ago")?;
        }
        writeln!(f, "retries: {}", self.retries)?;
        let RingState { version, keys, .. } = self.ring;
        let shared = if version == 0 { "of this node alone" } else { "shared" };
        match self.ring_age {
            Some(age) => writeln!(f, "ring: {shared}, version {version}, {keys} keys, encrypts for {} s", age.as_secs()),
            None => {
                writeln!(f, "ring: {shared}, version {version}, {keys} keys, none of which encrypts: no sessions are issued")
            }
        }
    }
}

/// What is known of the store, and who is told when it changes.
pub(crate) struct Journal {
    metrics: Arc<dyn Metrics>,
    is_connected: AtomicBool,
    has_other_keys: AtomicBool,
    retries: AtomicU64,
    /// By operation and action: two operations may use one action.
    refusals: Mutex<BTreeMap<(StoreOperation, Action), Refusal>>,
    last_error: Mutex<Option<(SystemTime, String)>>,
}

impl Journal {
    pub(crate) fn new(metrics: Arc<dyn Metrics>) -> Self {
        let (refusals, last_error) = Default::default();
        let [is_connected, has_other_keys] = [false, false].map(AtomicBool::new);
        Self { metrics, is_connected, has_other_keys, retries: AtomicU64::new(0), refusals, last_error }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Relaxed)
    }

    pub(crate) fn has_other_keys(&self) -> bool {
        self.has_other_keys.load(Ordering::Relaxed)
    }

    /// Rings of others cannot be read, or there are none of others.
    pub(crate) fn other_keys(&self, there_are: bool) {
        if self.has_other_keys.swap(there_are, Ordering::Relaxed) != there_are && there_are {
            tracing::error!(
                "another node's ring in the session store is sealed under another key-encryption key: no session is shared with it"
            );
        }
    }

    pub(crate) fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        let refusals = lock(&self.refusals);
        let by_command: BTreeMap<_, _> = refusals.values().map(|refusal| (refusal.command, refusal)).collect();
        by_command.into_values().cloned().collect()
    }

    pub(crate) fn last_error(&self) -> Option<(SystemTime, String)> {
        lock(&self.last_error).clone()
    }

    pub(crate) fn connected(&self) {
        self.is_connected.store(true, Ordering::Relaxed);
        tracing::info!("connected to the session store");
        self.metrics.store_event(StoreEvent::Connected);
    }

    pub(crate) fn disconnected(&self) {
        self.is_connected.store(false, Ordering::Relaxed);
        self.metrics.store_event(StoreEvent::Disconnected);
    }

    /// Something failed; a line for the log where that is news.
    pub(crate) fn failed(&self, error: String) {
        let mut last = lock(&self.last_error);
        if last.as_ref().is_none_or(|(_, before)| *before != error) {
            tracing::warn!(
                error,
                "the session store fails: no session in it is resumed until it answers; tickets go on under the keys that are known"
            );
        }
        *last = Some((SystemTime::now(), error));
    }

    /// Handshakes do not ask any more, or ask again.
    pub(crate) fn paused(&self, is_paused: bool) {
        if is_paused {
            tracing::warn!("the session store does not answer: handshakes do not ask until it does");
        } else {
            tracing::info!("the session store answers again");
        }
        self.metrics.store_event(if is_paused { StoreEvent::Paused } else { StoreEvent::Resumed });
    }

    /// A pause is made before the next try.
    pub(crate) fn retried(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
        self.metrics.store_event(StoreEvent::Retried);
    }

    /// The store refused a command.
    pub(crate) fn refused(&self, operation: StoreOperation, action: Action, refusal: Refusal) {
        let text = refusal.to_string();
        let mut refusals = lock(&self.refusals);
        let is_first = refusals.keys().all(|(other, _)| *other != operation);
        if refusals.insert((operation, action), refusal).is_none() {
            tracing::error!("{text}");
        }
        drop(refusals);
        if is_first {
            self.metrics.store_event(StoreEvent::Refused(operation));
        }
        *lock(&self.last_error) = Some((SystemTime::now(), text));
    }

    /// The store accepted it.
    pub(crate) fn accepted(&self, operation: StoreOperation, action: Action) {
        let mut refusals = lock(&self.refusals);
        let refusal = refusals.remove(&(operation, action));
        let was_last = refusals.keys().all(|(other, _)| *other != operation);
        drop(refusals);
        let Some(Refusal { command, .. }) = refusal else { return };
        tracing::info!("the session store accepts {command} again");
        if was_last {
            self.metrics.store_event(StoreEvent::Accepted(operation));
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
