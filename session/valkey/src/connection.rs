use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, FromRedisValue, IntoConnectionInfo, Pipeline, RedisFuture,
    RedisResult, TlsCertificates, TlsMode, Value,
};
use tokio::task::JoinSet;

use crate::config::Topology;

/// Makes connections.
pub(crate) enum Connector {
    Single(Box<Client>),
    Cluster(Box<redis::cluster::ClusterClient>),
    Sentinel(Box<SentinelClient>),
}

/// As whom a store knows this client.
pub(crate) fn user(topology: &Topology) -> String {
    let url = match topology {
        Topology::Single(url) => Some(url),
        Topology::Cluster(urls) | Topology::Sentinel { sentinels: urls, .. } => urls.first(),
    };
    let info = url.and_then(|url| url.as_str().into_connection_info().ok());
    info.and_then(|info| info.redis_settings().username().map(str::to_owned)).unwrap_or_else(|| "default".to_owned())
}

/// One connection, which any number of tasks use at a time.
#[derive(Clone)]
pub(crate) enum Connection {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connector {
    pub(crate) fn new(topology: &Topology, ca: Option<&Vec<u8>>) -> RedisResult<Self> {
        let certificates = || ca.map(|ca| TlsCertificates { client_tls: None, root_cert: Some(ca.clone()) });
        Ok(match topology {
            Topology::Single(url) => Self::Single(Box::new(match certificates() {
                Some(certificates) => Client::build_with_tls(url.as_str(), certificates)?,
                None => Client::open(url.as_str())?,
            })),
            Topology::Cluster(urls) => {
                let mut builder = ClusterClientBuilder::new(urls.iter().map(String::as_str));
                if let Some(certificates) = certificates() {
                    builder = builder.certs(certificates);
                }
                Self::Cluster(Box::new(builder.build()?))
            }
            Topology::Sentinel { sentinels, master } => {
                Self::Sentinel(Box::new(sentinel(sentinels, master, certificates())?))
            }
        })
    }

    pub(crate) async fn connect(&mut self) -> RedisResult<Connection> {
        let config = AsyncConnectionConfig::new();
        Ok(match self {
            Self::Single(client) => Connection::One(client.get_multiplexed_async_connection_with_config(&config).await?),
            Self::Cluster(client) => Connection::Cluster(client.get_async_connection().await?),
            Self::Sentinel(client) => Connection::One(client.get_async_connection_with_config(&config).await?),
        })
    }

    /// Whether all nodes that have this configuration ask one and the same server. With a cluster or sentinels, one that is
    /// cut off may be asked by some nodes while its successor is asked by others.
    pub(crate) fn is_one_store(&self) -> bool {
        matches!(self, Self::Single(_))
    }

    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }
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

impl Connection {
    /// The answers to these, in order: all at once, and in a cluster each from where its key is.
    pub(crate) async fn ask_all<T: FromRedisValue + Send + 'static>(&mut self, commands: Vec<Cmd>) -> RedisResult<Vec<T>> {
        let Self::Cluster(cluster) = self else {
            let mut pipeline = Pipeline::with_capacity(commands.len());
            for command in commands {
                pipeline.add_command(command);
            }
            return pipeline.query_async(self).await;
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

impl ConnectionLike for Connection {
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
