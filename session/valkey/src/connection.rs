use std::sync::Arc;
use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, FromRedisValue, IntoConnectionInfo, Pipeline, RedisFuture,
    RedisResult, Script, TlsCertificates, TlsMode, Value,
};
use reprise_session::store::remote::{Read, StoreBackend, StoreConnection, StoreError, StoreIdentity, Write};
use rustls_pki_types::UnixTime;
use tokio::task::JoinSet;

use crate::config::Topology;
use crate::refusal::User;

/// Sets an entry if there is what was seen: `KEYS[1]`, what was seen (empty: nothing), the new one, and for how many seconds.
const COMPARE_AND_SET: &str = "
local found = redis.call('GET', KEYS[1])
if found == ARGV[1] or (not found and ARGV[1] == '') then
    redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
    return 1
end
return 0";

/// Makes connections.
pub(crate) struct Connector {
    client: StoreClient,
    asking: Arc<Asking>,
}

enum StoreClient {
    Single(Box<Client>),
    Cluster(Box<redis::cluster::ClusterClient>),
    Sentinel(Box<SentinelClient>),
}

/// What all connections have in common.
struct Asking {
    user: User,
    compare_and_set: Script,
    /// Whether all nodes that have this configuration ask one and the same server. With a cluster or sentinels, one that is
    /// cut off may be asked by some nodes while its successor is asked by others.
    is_one_store: bool,
}

/// One connection, which any number of tasks use at a time.
#[derive(Clone)]
pub(crate) struct Connection {
    link: Link,
    asking: Arc<Asking>,
}

#[derive(Clone)]
enum Link {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connector {
    pub(crate) fn new(topology: &Topology, ca: Option<&Vec<u8>>, prefix: &str) -> RedisResult<Self> {
        let certificates = || ca.map(|ca| TlsCertificates { client_tls: None, root_cert: Some(ca.clone()) });
        let client = match topology {
            Topology::Single(url) => StoreClient::Single(Box::new(match certificates() {
                Some(certificates) => Client::build_with_tls(url.as_str(), certificates)?,
                None => Client::open(url.as_str())?,
            })),
            Topology::Cluster(urls) => {
                let mut builder = ClusterClientBuilder::new(urls.iter().map(String::as_str));
                if let Some(certificates) = certificates() {
                    builder = builder.certs(certificates);
                }
                StoreClient::Cluster(Box::new(builder.build()?))
            }
            Topology::Sentinel { sentinels, master } => {
                StoreClient::Sentinel(Box::new(sentinel(sentinels, master, certificates())?))
            }
        };
        let user = User { name: user_name(topology), prefix: prefix.to_owned() };
        let is_one_store = matches!(topology, Topology::Single(_));
        let asking = Asking { user, compare_and_set: Script::new(COMPARE_AND_SET), is_one_store };
        Ok(Self { client, asking: Arc::new(asking) })
    }

    async fn link(&mut self) -> RedisResult<Link> {
        let config = AsyncConnectionConfig::new();
        Ok(match &mut self.client {
            StoreClient::Single(client) => Link::One(client.get_multiplexed_async_connection_with_config(&config).await?),
            StoreClient::Cluster(client) => Link::Cluster(client.get_async_connection().await?),
            StoreClient::Sentinel(client) => Link::One(client.get_async_connection_with_config(&config).await?),
        })
    }
}

impl StoreBackend for Connector {
    type Connection = Connection;

    async fn connect(&mut self) -> Result<Connection, StoreError> {
        let link = self.link().await.map_err(|error| self.asking.user.error("AUTH", &error))?;
        Ok(Connection { link, asking: Arc::clone(&self.asking) })
    }
}

impl StoreConnection for Connection {
    async fn read(&mut self, reads: &[Read]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let command = |read: &Read| match read {
            Read::Get(key) => redis::cmd("GET").arg(key).to_owned(),
            Read::Take(key) => redis::cmd("GETDEL").arg(key).to_owned(),
        };
        let name = if matches!(reads.first(), Some(Read::Take(_))) { "GETDEL" } else { "GET" };
        let answers = self.ask_all(reads.iter().map(command).collect()).await;
        self.said(name, answers)
    }

    async fn write(&mut self, writes: &[Write]) -> Result<(), StoreError> {
        let command = |Write { key, entry, lifetime }: &Write| {
            let millis = u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX).max(1);
            redis::cmd("SET").arg(key).arg(entry).arg("PX").arg(millis).to_owned()
        };
        let written = self.ask_all::<()>(writes.iter().map(command).collect()).await;
        self.said("SET", written.map(drop))
    }

    async fn compare_and_set(&mut self, seen: Option<&[u8]>, write: &Write) -> Result<bool, StoreError> {
        let asking = Arc::clone(&self.asking);
        let mut script = asking.compare_and_set.key(&write.key);
        script.arg(seen.unwrap_or_default()).arg(&write.entry).arg(write.lifetime.as_secs());
        let set = script.invoke_async::<i64>(&mut self.link).await;
        self.said("EVALSHA", set.map(|set| set != 0))
    }

    async fn time(&mut self) -> Result<UnixTime, StoreError> {
        let time = redis::cmd("TIME").query_async::<(u64, u64)>(&mut self.link).await;
        self.said("TIME", time.map(|(seconds, _micros)| UnixTime::since_unix_epoch(Duration::from_secs(seconds))))
    }

    async fn identify(&mut self) -> Result<Option<StoreIdentity>, StoreError> {
        if !self.asking.is_one_store {
            return Ok(None);
        }
        let mut info = String::new();
        // Redis 7 would take several sections at a time, and earlier ones do not.
        for section in ["server", "replication"] {
            let said = redis::cmd("INFO").arg(section).query_async::<String>(&mut self.link).await;
            info.push_str(&self.said("INFO", said)?);
            info.push_str("\r\n");
        }
        Ok(identity(&info))
    }

    async fn is_primary(&mut self) -> Result<bool, StoreError> {
        if matches!(self.link, Link::Cluster(_)) {
            return Ok(true);
        }
        let role = redis::cmd("ROLE").query_async::<Vec<Value>>(&mut self.link).await;
        let name = self.said("ROLE", role)?.first().map(redis::from_redis_value_ref::<String>);
        Ok(name.is_some_and(|name| name.is_ok_and(|name| name == "master")))
    }
}

impl Connection {
    fn said<T>(&self, command: &'static str, answer: RedisResult<T>) -> Result<T, StoreError> {
        answer.map_err(|error| self.asking.user.error(command, &error))
    }

    /// The answers to these, in order: all at once, and in a cluster each from where its key is.
    async fn ask_all<T: FromRedisValue + Send + 'static>(&mut self, commands: Vec<Cmd>) -> RedisResult<Vec<T>> {
        let Link::Cluster(cluster) = &self.link else {
            let mut pipeline = Pipeline::with_capacity(commands.len());
            for command in commands {
                pipeline.add_command(command);
            }
            return pipeline.query_async(&mut self.link).await;
        };
        let mut asked = JoinSet::new();
        for (index, command) in commands.into_iter().enumerate() {
            let mut cluster = cluster.clone();
            asked.spawn(async move { (index, command.query_async(&mut cluster).await) });
        }
        let mut answers = asked.join_all().await;
        answers.sort_unstable_by_key(|(index, _)| *index);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }
}

/// Which store it is, out of what `INFO` says: it has another run ID after a restart, and another replication ID after it was a replica.
/// `None` if it does not say it, or the store is a replica.
fn identity(info: &str) -> Option<StoreIdentity> {
    let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    if field("role")? != "master" {
        return None;
    }
    Some(StoreIdentity::new(format!("{} {}", field("run_id")?, field("master_replid")?)))
}

/// As whom a store knows this client.
fn user_name(topology: &Topology) -> String {
    let url = match topology {
        Topology::Single(url) => Some(url),
        Topology::Cluster(urls) | Topology::Sentinel { sentinels: urls, .. } => urls.first(),
    };
    let info = url.and_then(|url| url.as_str().into_connection_info().ok());
    info.and_then(|info| info.redis_settings().username().map(str::to_owned)).unwrap_or_else(|| "default".to_owned())
}

fn sentinel(urls: &[String], master: &str, certificates: Option<TlsCertificates>) -> RedisResult<SentinelClient> {
    let infos = urls.iter().map(|url| url.as_str().into_connection_info()).collect::<RedisResult<Vec<_>>>()?;
    let first = infos.first().cloned();
    let addresses = infos.into_iter().map(|info| info.addr().clone());
    let mut builder = SentinelClientBuilder::new(addresses, master, SentinelServerType::Master)?;
    if let Some(info) = first {
        let login = info.redis_settings();
        if let Some(password) = login.password() {
            builder = builder.set_client_to_redis_password(password).set_client_to_sentinel_password(password);
        }
        if let Some(user) = login.username() {
            builder = builder.set_client_to_redis_username(user).set_client_to_sentinel_username(user);
        }
        if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
            builder = builder.set_client_to_redis_tls_mode(TlsMode::Secure);
        }
    }
    if let Some(certificates) = certificates {
        builder =
            builder.set_client_to_redis_certificates(certificates.clone()).set_client_to_sentinel_certificates(certificates);
    }
    builder.build()
}

impl ConnectionLike for Link {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::One(connection) => connection.req_packed_command(command),
            Self::Cluster(connection) => connection.req_packed_command(command),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::One(connection) => connection.req_packed_commands(pipeline, offset, count),
            Self::Cluster(connection) => connection.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::One(connection) => connection.get_db(),
            Self::Cluster(connection) => connection.get_db(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_has_no_identity() {
        let said = |role: &str, history: &str| identity(&format!("# Server\r\nrun_id:one\r\nrole:{role}\r\n{history}"));
        assert_eq!(said("master", "master_replid:a\r\n"), Some(StoreIdentity::new("one a")));
        assert_eq!(said("slave", "master_replid:a\r\n"), None);
        assert_eq!(said("master", ""), None);
    }
}
