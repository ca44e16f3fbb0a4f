//! Handshakes in memory between rustls' client and server: what `session_instructions` counts. Only what runs below
//! a function `server_…` is the server's.
//!
//! `session-handshakes HOW KIND-VERSION COUNT`: `plain` is rustls alone; `off`, `on` and `shared` are this library, the last one with a
//! store that nodes share, which here is a table that answers at once: what it takes to look ahead, ask, seal and open is counted,
//! and the way to another process is not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as Task, Poll, Waker};
use std::time::Duration;

use anyhow::{Context, bail};
use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption, Watch};
use reprise_session::store::{Answer, Answers, Fetch, LocalStore, Lookup, SharedStore, StoreKey, StoreLimits, Written};
use reprise_session::{RingHandle, Rotation};
use rustls::client::ClientConnection;
use rustls::crypto::aws_lc_rs;
use rustls::server::{ServerConnection, ServerSessionMemoryCache};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, HandshakeKind, RootCertStore, ServerConfig};
use rustls_pki_types::{ServerName, UnixTime};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [how, scenario, count] = &arguments[..] else { bail!("session-handshakes HOW KIND-VERSION COUNT") };
    let (kind, version) = scenario.split_once('-').context("KIND-VERSION")?;
    let authority = Authority::new()?;
    let server = server(how, kind, &authority)?;
    let client = client(kind, version, &authority)?;
    for number in 0..=count.parse::<u32>()? {
        let resumed = handshake(&client, &server)?;
        // The first one has nothing to resume.
        if resumed != (kind != "full" && number > 0) {
            bail!("handshake {number} was not what was asked for");
        }
    }
    Ok(())
}

/// A store that nodes share, without the way to it.
#[derive(Debug, Default)]
struct Table(Mutex<HashMap<StoreKey, Vec<u8>>>);

impl SharedStore for Table {
    fn fetch(&self, lookups: Vec<Lookup>) -> Fetch {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = |lookup: Lookup| {
            let found = match lookup {
                Lookup::Take(key) => table.remove(&key),
                lookup => table.get(&lookup.key()).cloned(),
            };
            (lookup.key(), found.map_or(Answer::Absent, Answer::Found))
        };
        Box::pin(std::future::ready(Answers::new(lookups.into_iter().map(answer).collect())))
    }

    fn put(&self, key: StoreKey, entry: Vec<u8>, _lifetime: Duration) -> Option<Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, entry);
        Some(Box::pin(std::future::ready(())))
    }
}

enum Server {
    Plain(Arc<ServerConfig>),
    Resuming(ResumingServer),
}

fn server(how: &str, kind: &str, authority: &Authority) -> anyhow::Result<Server> {
    let identity = authority.server(&ServerSpec::new(KeyKind::P256))?;
    let client_auth = ClientAuth::none();
    let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = client_auth.apply(builder.with_safe_default_protocol_versions()?);
    let mut config = builder.with_single_cert(identity.chain().to_vec(), identity.key_der())?;
    config.session_storage = ServerSessionMemoryCache::new(1000);
    if kind == "ticket" {
        config.ticketer = aws_lc_rs::Ticketer::new()?;
    }
    let ring = || anyhow::Ok(RingHandle::in_memory(Rotation::new(Duration::from_secs(3600))?, UnixTime::now())?);
    let shared = |ring| Resumption::builder().shared_store(Arc::new(Table::default()), ring);
    let resumption = match (how, kind) {
        ("plain", _) => return Ok(Server::Plain(Arc::new(config))),
        ("on", "ticket") => Resumption::builder().tickets(ring()?).build()?,
        ("shared", "ticket") => {
            let ring = ring()?;
            shared(ring.clone()).tickets(ring).build()?
        }
        ("shared", _) => shared(ring()?).build()?,
        ("on", _) => {
            let store = LocalStore::new(StoreLimits::new(1000, 1 << 20), [7; 16]);
            Resumption::builder().local_store(Arc::new(store)).build()?
        }
        _ => Resumption::off(),
    };
    Ok(Server::Resuming(ResumingServer::new(config, &client_auth, &resumption)?))
}

fn client(kind: &str, version: &str, authority: &Authority) -> anyhow::Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate().clone())?;
    let version = if version == "1.2" { &TLS12 } else { &TLS13 };
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_protocol_versions(&[version])?.with_root_certificates(roots);
    let mut config = builder.with_no_client_auth();
    if kind == "full" {
        config.resumption = rustls::client::Resumption::disabled();
    } else if kind == "id" {
        let ids = rustls::client::Tls12Resumption::SessionIdOnly;
        config.resumption = rustls::client::Resumption::in_memory_sessions(8).tls12_resumption(ids);
    }
    Ok(Arc::new(config))
}

fn handshake(client: &Arc<ClientConfig>, server: &Server) -> anyhow::Result<bool> {
    let mut client = ClientConnection::new(Arc::clone(client), ServerName::try_from("localhost")?)?;
    let mut to_server = Vec::new();
    client.write_tls(&mut to_server)?;
    let (mut connection, watch) = match server {
        Server::Plain(config) => (server_begin_plainly(config, &to_server)?, None),
        Server::Resuming(server) => server_begin(server, &to_server).map(|(connection, watch)| (connection, Some(watch)))?,
    };
    let mut to_client = server_turn(&mut connection, &[])?;
    while !to_client.is_empty() {
        let mut unread = &to_client[..];
        while !unread.is_empty() {
            client.read_tls(&mut unread)?;
            client.process_new_packets()?;
        }
        to_server.clear();
        while client.wants_write() {
            client.write_tls(&mut to_server)?;
        }
        to_client = server_turn(&mut connection, &to_server)?;
    }
    if let Some(watch) = watch {
        server_end(&mut connection, watch);
    }
    if client.is_handshaking() || connection.is_handshaking() {
        bail!("the handshake is not done");
    }
    Ok(connection.handshake_kind() == Some(HandshakeKind::Resumed))
}

#[inline(never)]
fn server_begin_plainly(config: &Arc<ServerConfig>, hello: &[u8]) -> anyhow::Result<ServerConnection> {
    let mut connection = ServerConnection::new(Arc::clone(config))?;
    connection.read_tls(&mut &hello[..])?;
    connection.process_new_packets()?;
    Ok(connection)
}

#[inline(never)]
fn server_begin(server: &ResumingServer, hello: &[u8]) -> anyhow::Result<(ServerConnection, Watch)> {
    if let Some(mut ahead) = server.look_ahead() {
        let offered = ahead.receive(hello)?.context("half a hello")?;
        let answers = match server.fetch(&offered) {
            Some(mut fetch) => match fetch.as_mut().poll(&mut Task::from_waker(Waker::noop())) {
                Poll::Ready(answers) => answers,
                Poll::Pending => bail!("a table answers at once"),
            },
            None => Answers::default(),
        };
        let (config, watch) = server.connection(&offered, answers);
        let mut connection = ServerConnection::new(config)?;
        connection.read_tls(&mut &ahead.into_received()[..])?;
        connection.process_new_packets()?;
        return Ok((connection, watch));
    }
    let (config, watch) = server.connection(&Default::default(), Answers::default());
    let mut connection = ServerConnection::new(config)?;
    connection.read_tls(&mut &hello[..])?;
    connection.process_new_packets()?;
    Ok((connection, watch))
}

#[inline(never)]
fn server_turn(connection: &mut ServerConnection, mut unread: &[u8]) -> anyhow::Result<Vec<u8>> {
    while !unread.is_empty() {
        connection.read_tls(&mut unread)?;
        connection.process_new_packets()?;
    }
    let mut out = Vec::new();
    while connection.wants_write() {
        connection.write_tls(&mut out)?;
    }
    Ok(out)
}

#[inline(never)]
fn server_end(connection: &mut ServerConnection, watch: Watch) {
    watch.completed(connection);
}
