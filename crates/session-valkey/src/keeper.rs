//! Keeps the connection and the ring.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use redis::{ErrorKind, RedisError, RedisResult, Script};
use reprise_session::coordination::{Clocks, RingAction, next_step};
use reprise_session::{KeyEncryptionKeys, Rotation, SystemRandom};
use rustls::time_provider::TimeProvider;
use rustls_pki_types::UnixTime;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::config::ValkeyConfig;
use crate::connection::{Connection, Connector};
use crate::shared::Shared;
use crate::strike::Identity;

/// How long anything of the keeper's own may take: nobody waits for it.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often in a row another node may be first.
const MOST_LOOKS: usize = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

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
    stop: Stop,
    /// Told once, when the ring has been seen.
    ready: mpsc::Sender<()>,
}

impl Keeper {
    pub(crate) fn new(
        shared: Arc<Shared>,
        connector: Connector,
        config: ValkeyConfig,
        stop: Stop,
        ready: mpsc::Sender<()>,
    ) -> Self {
        let ValkeyConfig { rotation, keys, refresh, clock, .. } = config;
        let compare_and_set = Script::new(COMPARE_AND_SET);
        Self { shared, connector, rotation, keys, refresh, clock, compare_and_set, stop, ready }
    }

    /// Connects, and connects again, until it is stopped.
    pub(crate) async fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        while !self.stop.is_stopped() {
            if let Ok(Ok(connection)) = timeout(PATIENCE, self.connect()).await {
                pause = FIRST_PAUSE;
                self.shared.connected(connection.clone());
                self.keep(connection).await;
                self.shared.disconnected();
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn connect(&mut self) -> RedisResult<Connection> {
        let mut connection = self.connector.connect().await?;
        if self.connector.is_cluster() {
            return Ok(connection);
        }
        // After a failover the old master may come back as a replica, from which nothing can be taken.
        let role: Vec<redis::Value> = redis::cmd("ROLE").query_async(&mut connection).await?;
        match role.first().map(redis::from_redis_value_ref::<String>).transpose()?.as_deref() {
            Some("master") => {}
            _ => return Err(RedisError::from((ErrorKind::Client, "this server is a replica"))),
        }
        self.identify(&mut connection).await?;
        Ok(connection)
    }

    /// Sees which store it is, and in what role: a master may become a replica and a master again under one connection.
    async fn identify(&self, connection: &mut Connection) -> RedisResult<()> {
        if self.connector.is_one_store() {
            // Redis 7 would take several sections at a time, and earlier ones do not.
            let ask = |section| redis::cmd("INFO").arg(section).to_owned();
            let server: String = ask("server").query_async(connection).await?;
            let replication: String = ask("replication").query_async(connection).await?;
            self.shared.seen(Identity::parse(&(server + "\r\n" + &replication)));
        }
        Ok(())
    }

    /// Looks at the ring until the connection fails.
    async fn keep(&self, mut connection: Connection) {
        loop {
            let looked = timeout(PATIENCE, self.look(&mut connection)).await;
            let Ok(Ok(())) = looked else { return };
            // Nobody waits for it after the first time.
            let _ = self.ready.send(());
            if timeout(self.refresh, self.shared.broken.notified()).await.is_ok() {
                return;
            }
        }
    }

    async fn look(&self, connection: &mut Connection) -> RedisResult<()> {
        self.identify(connection).await?;
        for _ in 0..MOST_LOOKS {
            if self.look_once(connection).await? {
                break;
            }
        }
        Ok(())
    }

    /// Whether it need not be done again.
    async fn look_once(&self, connection: &mut Connection) -> RedisResult<bool> {
        let key = [&self.shared.prefix[..], b":ring"].concat();
        let found: Option<Vec<u8>> = redis::cmd("GET").arg(&key).query_async(connection).await?;
        let (seconds, _micros): (u64, u64) = redis::cmd("TIME").query_async(connection).await?;
        let Some(now) = self.clock.current_time() else { return Ok(true) };
        let clocks = Clocks { own: now, store: UnixTime::since_unix_epoch(Duration::from_secs(seconds)) };
        let current = self.shared.ring.load(now);
        let next = next_step(&current, found.as_deref(), &self.rotation, &self.keys, clocks, &SystemRandom);
        let ring = match next {
            Ok(RingAction::Use(ring)) => ring,
            Ok(RingAction::Publish { ring, sealed }) => {
                let end = ring.keys().map(|key| key.times().decrypt_until.as_secs()).max().unwrap_or(0);
                let seconds = end.saturating_sub(now.as_secs()).clamp(1, LONGEST_KEPT.as_secs());
                let mut script = self.compare_and_set.key(&key);
                script.arg(found.unwrap_or_default()).arg(sealed).arg(seconds);
                let is_set: i64 = script.invoke_async(connection).await?;
                if is_set == 0 {
                    // Another node was first.
                    return Ok(false);
                }
                ring
            }
            // Another fleet's, or altered: the last good ring stays. It says so by its version, which does not grow.
            Ok(_) | Err(_) => return Ok(true),
        };
        let (version, keys) = (ring.version(), ring.keys().count());
        if self.shared.ring.replace(ring) {
            self.shared.metrics.ring(version, keys);
        }
        Ok(true)
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
