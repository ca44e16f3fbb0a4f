//! Keeps the connection and the ring.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use redis::{ErrorKind, RedisError, RedisResult, Script};
use reprise_session::coordination::{Clocks, RingAction, next_step};
use reprise_session::metrics::{RingState, StoreOperation};
use reprise_session::{KeyEncryptionKeys, Rotation, SystemRandom};
use rustls::time_provider::TimeProvider;
use rustls_pki_types::UnixTime;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::backoff::Backoff;
use crate::config::ValkeyConfig;
use crate::connection::{Connection, Connector};
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::strike::Identity;

/// How long anything of the keeper's own may take: nobody waits for it.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often in a row another node may be first.
const MOST_LOOKS: usize = 8;
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// A ring that a leaping clock dated into the far future: the store refuses times beyond its own counting.
const LONGEST_KEPT: Duration = Duration::from_secs(366 * 86_400);

/// Sets the ring if it is what was seen: `KEYS[1]`, what was seen (empty: nothing), the new one, and for how many seconds.
const COMPARE_AND_SET: &str = "
local found = redis.call('GET', KEYS[1])
if found == ARGV[1] or (not found and ARGV[1] == '') then
    redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
    return 1
end
return 0";

pub(crate) struct Keeper {
    shared: Arc<Shared>,
    connector: Connector,
    rotation: Rotation,
    keys: KeyEncryptionKeys,
    refresh: Duration,
    clock: Arc<dyn TimeProvider>,
    compare_and_set: Script,
    backoff: Backoff,
    stop: Stop,
    /// Told when the ring has been seen, or why it cannot be.
    ready: mpsc::Sender<Result<(), Refusal>>,
}

impl Keeper {
    pub(crate) fn new(
        shared: Arc<Shared>,
        connector: Connector,
        config: ValkeyConfig,
        stop: Stop,
        ready: mpsc::Sender<Result<(), Refusal>>,
    ) -> Self {
        let ValkeyConfig { rotation, keys, refresh, clock, pause, .. } = config;
        let compare_and_set = Script::new(COMPARE_AND_SET);
        let backoff = Backoff::new(pause, LONGEST_PAUSE);
        Self { shared, connector, rotation, keys, refresh, clock, compare_and_set, backoff, stop, ready }
    }

    /// Connects, and connects again, until it is stopped.
    pub(crate) async fn run(mut self) {
        while !self.stop.is_stopped() {
            self.shared.take_broken();
            match timeout(PATIENCE, self.connect()).await {
                Ok(Ok(connection)) => {
                    self.backoff.reset();
                    self.shared.connected(connection.clone());
                    self.keep(connection).await;
                    self.shared.disconnected();
                }
                Ok(Err(error)) => {
                    let refusal = self.shared.refusal(&error);
                    self.shared.journal.failed(refusal.as_ref().map_or_else(|| error.to_string(), Refusal::to_string));
                    // Such as a wrong password.
                    if let Some(refusal) = refusal.filter(Refusal::is_lasting) {
                        let _ = self.ready.send(Err(refusal));
                    }
                }
                Err(_) => self.shared.journal.failed("no connection within a second".to_owned()),
            }
            self.pause().await;
        }
    }

    async fn pause(&mut self) {
        self.shared.journal.retried();
        self.ratchet();
        tokio::time::sleep(self.backoff.pause()).await;
    }

    async fn connect(&mut self) -> RedisResult<Connection> {
        let mut connection = self.connector.connect().await?;
        if self.connector.is_cluster() {
            return Ok(connection);
        }
        // After a failover the old master may come back as a replica, from which nothing can be taken.
        let asked = redis::cmd("ROLE").query_async::<Vec<redis::Value>>(&mut connection).await;
        // Where nobody may ask, it shows when something is taken.
        let Some(role) = self.shared.note(StoreOperation::Identify, "ROLE", asked) else { return Ok(connection) };
        match role.first().map(redis::from_redis_value_ref::<String>).transpose()?.as_deref() {
            Some("master") => {}
            _ => return Err(RedisError::from((ErrorKind::Client, "this server is a replica"))),
        }
        Ok(connection)
    }

    /// Looks at the ring until the connection fails.
    async fn keep(&mut self, mut connection: Connection) {
        let mut is_checked = false;
        loop {
            // What the store refused before it may allow now.
            if !is_checked || !self.shared.journal.refusals().is_empty() {
                is_checked = timeout(PATIENCE, self.check(&mut connection)).await.is_ok();
            }
            if timeout(PATIENCE, self.look(&mut connection)).await.is_err() {
                self.shared.journal.failed("no answer within a second".to_owned());
                return;
            }
            self.report();
            loop {
                if self.shared.take_broken() {
                    return;
                }
                if self.shared.is_paused() && !self.wait_for_answer(&mut connection).await {
                    return;
                }
                if timeout(self.refresh, self.shared.trouble.notified()).await.is_err() {
                    break;
                }
            }
        }
    }

    /// Tells whoever waits for the start, the first time.
    fn report(&self) {
        let refusal = self.shared.journal.refusals().into_iter().find(Refusal::is_lasting);
        let _ = self.ready.send(refusal.map_or(Ok(()), Err));
    }

    /// Asks now and then, in the place of handshakes, until the store answers. `false`: it says nothing for so long that the
    /// connection may be dead, as one is that a firewall has forgotten.
    async fn wait_for_answer(&mut self, connection: &mut Connection) -> bool {
        let begun = Instant::now();
        loop {
            self.pause().await;
            match self.shared.probe(connection).await {
                Some(true) => {
                    self.backoff.reset();
                    self.shared.answered();
                    return true;
                }
                Some(false) if self.shared.take_broken() => return false,
                Some(false) => {}
                None if begun.elapsed() >= PATIENCE => return false,
                None => {}
            }
        }
    }

    /// Does once whatever will be done, so that what the store refuses is known before a client needs it.
    async fn check(&self, connection: &mut Connection) {
        let key = self.shared.probe_key();
        let set = redis::cmd("SET").arg(&key).arg("probe").arg("PX").arg(1000).query_async::<()>(connection).await;
        self.shared.note(StoreOperation::Put, "SET", set);
        // Each is noted for itself, whatever became of the one before.
        for command in ["GET", "GETDEL"] {
            let read = redis::cmd(command).arg(&key).query_async::<Option<Vec<u8>>>(connection).await;
            self.shared.note(StoreOperation::Fetch, command, read);
        }
        let mut script = self.compare_and_set.key(&key);
        script.arg("what is not there").arg("probe").arg(1);
        let run = script.invoke_async::<i64>(connection).await;
        self.shared.note(StoreOperation::Ring, "EVALSHA", run);
    }

    /// Sees which store it is, and in what role: a master may become a replica and a master again under one connection.
    async fn identify(&self, connection: &mut Connection) {
        if !self.connector.is_one_store() {
            return;
        }
        let mut info = String::new();
        // Redis 7 would take several sections at a time, and earlier ones do not.
        for section in ["server", "replication"] {
            let asked = redis::cmd("INFO").arg(section).query_async::<String>(connection).await;
            // Without it there is no early data, and all else works.
            let Some(said) = self.shared.note(StoreOperation::Identify, "INFO", asked) else {
                return self.shared.seen(None);
            };
            info.push_str(&said);
            info.push_str("\r\n");
        }
        self.shared.seen(Identity::parse(&info));
    }

    async fn look(&self, connection: &mut Connection) {
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
        if let Some(now) = self.clock.current_time() {
            self.shared.metrics.ring(RingState::of(&self.shared.ring.load(now), now));
        }
    }

    /// Makes the next key when it is due and no ring can be seen: the same that all other nodes make which see none.
    fn ratchet(&self) {
        let Some(now) = self.clock.current_time() else { return };
        let next = self.shared.ring.load(now).ratcheted(&self.rotation, now);
        let Some(next) = next else { return };
        let version = next.version();
        if self.shared.ring.replace(next) {
            tracing::warn!(version, "no ring can be read: the next ticket key follows from the last ring that was");
            self.measure();
        }
    }

    /// Whether others publish rings in this store that are sealed under another key, and cannot be read here.
    async fn look_for_others(&self, connection: &mut Connection) -> Option<()> {
        let asked = redis::cmd("GET").arg(self.shared.publisher_key()).query_async::<Option<Vec<u8>>>(connection).await;
        let publisher = self.shared.note(StoreOperation::Ring, "GET", asked)?;
        // What is no such name was garbled.
        let publisher = publisher.filter(|name| name.len() == 16 && name.iter().all(u8::is_ascii_hexdigit));
        let is_another = |publisher: Vec<u8>| self.keys.ids().all(|id| id.as_bytes() != publisher);
        self.shared.journal.other_keys(publisher.is_some_and(is_another));
        Some(())
    }

    /// Whether it need not be done again. `None`: the store refuses something.
    async fn look_once(&self, connection: &mut Connection) -> Option<bool> {
        const RING: StoreOperation = StoreOperation::Ring;
        let mut found = Vec::new();
        for id in self.keys.ids() {
            let ring = redis::cmd("GET").arg(self.shared.ring_key(&id)).query_async::<Option<Vec<u8>>>(connection).await;
            found.push(self.shared.note(RING, "GET", ring)?);
        }
        self.look_for_others(connection).await?;
        let time = redis::cmd("TIME").query_async(connection).await;
        let (seconds, _micros): (u64, u64) = self.shared.note(RING, "TIME", time)?;
        let Some(now) = self.clock.current_time() else { return Some(true) };
        let clocks = Clocks { own: now, store: UnixTime::since_unix_epoch(Duration::from_secs(seconds)) };
        let current = self.shared.ring.load(now);
        let next = next_step(&current, &found, &self.rotation, &self.keys, clocks, &SystemRandom);
        let ring = match next {
            Ok(RingAction::Use(ring)) => ring,
            Ok(RingAction::Publish { ring, sealed, repairs }) => {
                let id = self.keys.ids().next().unwrap_or_default();
                let key = self.shared.ring_key(&id);
                let end = ring.keys().map(|key| key.times().decrypt_until.as_secs()).max().unwrap_or(0);
                let seconds = end.saturating_sub(now.as_secs()).clamp(1, LONGEST_KEPT.as_secs());
                let mut script = self.compare_and_set.key(&key);
                script.arg(found.into_iter().next().flatten().unwrap_or_default()).arg(sealed).arg(seconds);
                let is_set = script.invoke_async::<i64>(connection).await;
                if self.shared.note(RING, "EVALSHA", is_set)? == 0 {
                    // Another node was first.
                    return Some(false);
                }
                if let Some(error) = repairs {
                    tracing::warn!(%error, "the store garbled the ring: this node's took its place");
                }
                let publisher = self.shared.publisher_key();
                let told =
                    redis::cmd("SET").arg(publisher).arg(id).arg("EX").arg(seconds).query_async::<()>(connection).await;
                // The ring stands whether or not others can see whose it is.
                self.shared.note(StoreOperation::Put, "SET", told);
                ring
            }
            Ok(_) => return Some(true),
            Err(error) => {
                self.shared.journal.failed(format!("no ticket key can be made: {error}"));
                return Some(true);
            }
        };
        let version = ring.version();
        // One of the same version may have another chain, of a node that was away.
        if self.shared.ring.replace(ring) && version != current.version() {
            tracing::info!(version, "a new ring of ticket keys is in use");
        }
        Some(true)
    }
}

/// Tells the thread to end.
#[derive(Clone)]
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
