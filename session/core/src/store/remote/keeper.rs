//! Keeps the connection and the ring.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use rustls::time_provider::TimeProvider;
use tokio::sync::watch;
use tokio::time::timeout;

use super::action::Action;
use super::backend::{Read, StoreBackend, StoreConnection, StoreError, Write};
use super::backoff::Backoff;
use super::config::RemoteConfig;
use super::refusal::Refusal;
use super::state::State;
use crate::coordination::{Clocks, RingAction, next_step};
use crate::metrics::{RingState, StoreOperation};
use crate::random::SystemRandom;
use crate::rotation::Rotation;
use crate::sealed_ring::KeyEncryptionKeys;

/// How long anything of the keeper's own may take: nobody waits for it.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often in a row another node may be first.
const MOST_LOOKS: usize = 8;
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// A ring that a leaping clock dated into the far future: the store refuses times beyond its own counting.
const LONGEST_KEPT: Duration = Duration::from_secs(366 * 86_400);

pub(crate) struct Keeper<B: StoreBackend> {
    state: Arc<State<B::Connection>>,
    backend: B,
    rotation: Rotation,
    keys: KeyEncryptionKeys,
    refresh: Duration,
    clock: Arc<dyn TimeProvider>,
    backoff: Backoff,
    stop: Stop,
    /// Told when the ring has been seen, or why it cannot be.
    ready: mpsc::Sender<Result<(), Refusal>>,
}

impl<B: StoreBackend> Keeper<B> {
    pub(crate) fn new(
        state: Arc<State<B::Connection>>,
        backend: B,
        config: RemoteConfig,
        stop: Stop,
        ready: mpsc::Sender<Result<(), Refusal>>,
    ) -> Self {
        let RemoteConfig { rotation, keys, refresh, clock, pause, .. } = config;
        let backoff = Backoff::new(pause, LONGEST_PAUSE);
        Self { state, backend, rotation, keys, refresh, clock, backoff, stop, ready }
    }

    /// Connects, and connects again, until it is stopped.
    pub(crate) async fn run(mut self) {
        while !self.stop.is_stopped() {
            self.state.take_broken();
            match timeout(PATIENCE, self.connect()).await {
                Ok(Ok(connection)) => {
                    self.backoff.reset();
                    self.state.connected(connection.clone());
                    self.keep(connection).await;
                    self.state.disconnected();
                }
                Ok(Err(error)) => {
                    self.state.journal.failed(error.to_string());
                    // Such as a wrong password.
                    if let StoreError::Refused(refusal) = error
                        && refusal.is_lasting()
                    {
                        let _ = self.ready.send(Err(refusal));
                    }
                }
                Err(_) => self.state.journal.failed("no connection within a second".to_owned()),
            }
            self.pause().await;
        }
    }

    async fn pause(&mut self) {
        self.state.journal.retried();
        self.ratchet();
        tokio::time::sleep(self.backoff.pause()).await;
    }

    async fn connect(&mut self) -> Result<B::Connection, StoreError> {
        let mut connection = self.backend.connect().await?;
        // After a failover the old master may come back as a replica, from which nothing can be taken.
        let asked = connection.is_primary().await;
        // Where nobody may ask, it shows when something is taken.
        match self.state.note(StoreOperation::Identify, Action::Role, asked) {
            Some(false) => Err(StoreError::Failed("this server is a replica".to_owned())),
            _ => Ok(connection),
        }
    }

    /// Looks at the ring until the connection fails.
    async fn keep(&mut self, mut connection: B::Connection) {
        let mut is_checked = false;
        loop {
            // What the store refused before it may allow now.
            if !is_checked || !self.state.journal.refusals().is_empty() {
                is_checked = timeout(PATIENCE, self.check(&mut connection)).await.is_ok();
            }
            if timeout(PATIENCE, self.look(&mut connection)).await.is_err() {
                self.state.journal.failed("no answer within a second".to_owned());
                return;
            }
            self.report();
            loop {
                if self.state.take_broken() {
                    return;
                }
                if self.state.is_paused() && !self.wait_for_answer(&mut connection).await {
                    return;
                }
                if timeout(self.refresh, self.state.trouble.notified()).await.is_err() {
                    break;
                }
            }
        }
    }

    /// Tells whoever waits for the start, the first time.
    fn report(&self) {
        let refusal = self.state.journal.refusals().into_iter().find(Refusal::is_lasting);
        let _ = self.ready.send(refusal.map_or(Ok(()), Err));
    }

    /// Asks now and then, in the place of handshakes, until the store answers. `false`: it says nothing for so long that the
    /// connection may be dead, as one is that a firewall has forgotten.
    async fn wait_for_answer(&mut self, connection: &mut B::Connection) -> bool {
        let begun = Instant::now();
        loop {
            self.pause().await;
            match self.state.probe(connection).await {
                Some(true) => {
                    self.backoff.reset();
                    self.state.answered();
                    return true;
                }
                Some(false) if self.state.take_broken() => return false,
                Some(false) => {}
                None if begun.elapsed() >= PATIENCE => return false,
                None => {}
            }
        }
    }

    /// Does once whatever will be done, so that what the store refuses is known before a client needs it.
    async fn check(&self, connection: &mut B::Connection) {
        let key = self.state.probe_key();
        let write = |seconds| Write { key: key.clone(), entry: b"probe".to_vec(), lifetime: Duration::from_secs(seconds) };
        let written = connection.write(&[write(1)]).await;
        self.state.note(StoreOperation::Put, Action::Write, written);
        // Each is noted for itself, whatever became of the one before.
        for (action, read) in [(Action::Get, Read::Get(key.clone())), (Action::Take, Read::Take(key.clone()))] {
            let read = connection.read(&[read]).await;
            self.state.note(StoreOperation::Fetch, action, read);
        }
        let set = connection.compare_and_set(Some(b"what is not there"), &write(1)).await;
        self.state.note(StoreOperation::Ring, Action::CompareAndSet, set);
    }

    /// Sees which store it is, and in what role: a master may become a replica and a master again under one connection.
    async fn identify(&self, connection: &mut B::Connection) {
        let said = connection.identify().await;
        // Without it there is no early data, and all else works.
        self.state.seen(self.state.note(StoreOperation::Identify, Action::Identify, said).flatten());
    }

    async fn look(&self, connection: &mut B::Connection) {
        self.identify(connection).await;
        for _ in 0..MOST_LOOKS {
            match self.look_once(connection).await {
                Some(true) => break,
                Some(false) => {}
                None => {
                    self.ratchet();
                    break;
                }
            }
        }
        self.measure();
    }

    fn measure(&self) {
        if let (Some(ring), Some(now)) = (self.state.ring.upgrade(), self.clock.current_time()) {
            self.state.metrics.ring(RingState::of(&ring.load(now), now));
        }
    }

    /// Makes the next key when it is due and no ring can be seen: the same that all other nodes make which see none.
    fn ratchet(&self) {
        let (Some(ring), Some(now)) = (self.state.ring.upgrade(), self.clock.current_time()) else { return };
        let Some(next) = ring.load(now).ratcheted(&self.rotation, now) else { return };
        let version = next.version();
        if ring.replace(next) {
            tracing::warn!(version, "no ring can be read: the next ticket key follows from the last ring that was");
            self.measure();
        }
    }

    /// What stands under a key of the ring's. `None`: the store refuses to say.
    async fn read(&self, connection: &mut B::Connection, key: Vec<u8>) -> Option<Option<Vec<u8>>> {
        let found = connection.read(&[Read::Get(key)]).await;
        self.state.note(StoreOperation::Ring, Action::Get, found)?.into_iter().next()
    }

    /// Whether others publish rings in this store that are sealed under another key, and cannot be read here.
    async fn look_for_others(&self, connection: &mut B::Connection) -> Option<()> {
        let publisher = self.read(connection, self.state.publisher_key()).await?;
        // What is no such name was garbled.
        let publisher = publisher.filter(|name| name.len() == 16 && name.iter().all(u8::is_ascii_hexdigit));
        let is_another = |publisher: Vec<u8>| self.keys.ids().all(|id| id.as_bytes() != publisher);
        self.state.journal.other_keys(publisher.is_some_and(is_another));
        Some(())
    }

    /// Whether it need not be done again. `None`: the store refuses something.
    async fn look_once(&self, connection: &mut B::Connection) -> Option<bool> {
        const RING: StoreOperation = StoreOperation::Ring;
        let mut found = Vec::new();
        for id in self.keys.ids() {
            found.push(self.read(connection, self.state.ring_key(&id)).await?);
        }
        self.look_for_others(connection).await?;
        let asked = connection.time().await;
        let time = self.state.note(RING, Action::Time, asked)?;
        let (Some(handle), Some(now)) = (self.state.ring.upgrade(), self.clock.current_time()) else { return Some(true) };
        let clocks = Clocks { own: now, store: time };
        let current = handle.load(now);
        let next = next_step(&current, &found, &self.rotation, &self.keys, clocks, &SystemRandom);
        let ring = match next {
            Ok(RingAction::Use(ring)) => ring,
            Ok(RingAction::Publish { ring, sealed, repairs }) => {
                let id = self.keys.ids().next().unwrap_or_default();
                let end = ring.keys().map(|key| key.times().decrypt_until.as_secs()).max().unwrap_or(0);
                let lifetime = Duration::from_secs(end.saturating_sub(now.as_secs()).clamp(1, LONGEST_KEPT.as_secs()));
                let write = Write { key: self.state.ring_key(&id), entry: sealed, lifetime };
                let seen = found.into_iter().next().flatten();
                let set = connection.compare_and_set(seen.as_deref(), &write).await;
                if !self.state.note(RING, Action::CompareAndSet, set)? {
                    // Another node was first.
                    return Some(false);
                }
                if let Some(error) = repairs {
                    tracing::warn!(%error, "the store garbled the ring: this node's took its place");
                }
                let publisher = Write { key: self.state.publisher_key(), entry: id.into(), lifetime };
                let told = connection.write(&[publisher]).await;
                // The ring stands whether or not others can see whose it is.
                self.state.note(StoreOperation::Put, Action::Write, told);
                ring
            }
            Err(error) => {
                self.state.journal.failed(format!("no ticket key can be made: {error}"));
                return Some(true);
            }
        };
        let version = ring.version();
        // One of the same version may have another chain, of a node that was away.
        if handle.replace(ring) && version != current.version() {
            tracing::info!(version, "a new ring of ticket keys is in use");
        }
        Some(true)
    }
}

/// Tells the thread to end.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Stop {
    pub(crate) fn stop(&self) {
        self.0.send_replace(true);
    }

    fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn stopped(&self) {
        // It fails only when there is no sender, and this is one.
        let _ = self.0.subscribe().wait_for(|stopped| *stopped).await;
    }
}
