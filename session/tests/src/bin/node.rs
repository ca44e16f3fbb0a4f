//! One node: a small HTTPS server that resumes sessions as it is told. `session-node name=value…` prints its address.
//!
//! Requests: `/metrics` is the page for a scraper, `/status` the store's, `/failed` how many handshakes failed, anything else says how this one was.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use reprise_session::metrics::Counters;
use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption};
use reprise_session::store::remote::{RemoteConfig, RemoteStore};
use reprise_session::store::{LocalStore, SharedStore, StoreLimits};
use reprise_session::ticket::Limits;
use reprise_session::{KeyEncryptionKeys, Random, RingHandle, Rotation, SystemRandom};
use reprise_session_tests::memcached_store::Memcached;
use reprise_session_valkey::{Topology, Valkey, ValkeyConfig};
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};
use rustls::crypto::aws_lc_rs::{self, Ticketer};
use rustls::server::ServerSessionMemoryCache;
use rustls::time_provider::TimeProvider;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, UnixTime};

/// So many sessions are kept in memory, where they are.
const SESSIONS: usize = 100_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let settings = Settings::read()?;
    let counters = Arc::new(Counters::default());
    let (server, status) = settings.server(&counters)?;
    let node = Arc::new(Node { server, status, counters, failed: AtomicU64::new(0), name: std::process::id().to_string() });
    let listener = listen(settings.text("listen").unwrap_or("127.0.0.1:0").parse()?)?;
    println!("{}", listener.local_addr()?);
    // Whoever started this node holds its input open, and is gone when that ends.
    thread::spawn(|| {
        let _ = io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    loop {
        let (stream, _) = listener.accept()?;
        let node = Arc::clone(&node);
        thread::Builder::new().stack_size(256 * 1024).spawn(move || node.serve(stream))?;
    }
}

/// On an address that others may listen on too: the kernel spreads connections over them, as a balancer would.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    net::sockopt::set_socket_reuseport(&socket, true)?;
    net::sockopt::set_socket_reuseaddr(&socket, true)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, 1024)?;
    Ok(TcpListener::from(socket))
}

struct Settings(HashMap<String, String>);

impl Settings {
    fn read() -> Result<Self> {
        let pair = |argument: String| argument.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(Self(std::env::args().skip(1).map(pair).collect::<Option<_>>().ok_or("settings are name=value")?))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn required(&self, name: &str) -> Result<&str> {
        self.text(name).ok_or_else(|| format!("{name} is missing").into())
    }

    fn number(&self, name: &str, default: u64) -> Result<u64> {
        Ok(self.text(name).map_or(Ok(default), str::parse)?)
    }

    fn server(&self, counters: &Arc<Counters>) -> Result<(Server, Option<Status>)> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let client_auth = ClientAuth::none();
        let chain = CertificateDer::pem_file_iter(self.required("certificate")?)?.collect::<std::result::Result<_, _>>()?;
        let key = PrivateKeyDer::from_pem_file(self.required("key")?)?;
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let mut config = client_auth.apply(builder).with_single_cert(chain, key)?;
        config.max_early_data_size = u32::try_from(self.number("early", 0)?)?;
        config.send_tls13_tickets = usize::try_from(self.number("tickets", 2)?)?;
        match self.required("means")? {
            "rustls-tickets" => config.ticketer = Ticketer::new()?,
            "rustls-ids" => config.session_storage = ServerSessionMemoryCache::new(SESSIONS),
            _ => {
                let (resumption, store) = self.resumption(counters)?;
                return Ok((Server::Resuming(ResumingServer::new(config, &client_auth, &resumption)?), store));
            }
        }
        Ok((Server::Plain(Arc::new(config)), None))
    }

    /// From a file or from an environment variable.
    fn sealing_keys(&self) -> Result<KeyEncryptionKeys> {
        Ok(match self.text("ring-key-variable") {
            Some(name) => KeyEncryptionKeys::from_env(name)?,
            None => KeyEncryptionKeys::from_file(self.required("ring-key")?)?,
        })
    }

    /// With the store, which keeps the ring for as long as it lives.
    fn resumption(&self, counters: &Arc<Counters>) -> Result<(Resumption, Option<Status>)> {
        let lifetime = Duration::from_secs(self.number("lifetime", 600)?);
        let chain = Duration::from_secs(self.number("chain", 86_400)?);
        let clock = Arc::new(Skewed(self.text("skew").map_or(Ok(0), str::parse)?));
        let builder = Resumption::builder()
            .limits(Limits::new().lifetime(lifetime).chain(chain))
            .metrics(Arc::clone(counters) as _)
            .clock(Arc::clone(&clock) as _);
        let Some(url) = self.text("store") else {
            let resumption = match self.required("means")? {
                "off" => Resumption::off(),
                _ => {
                    let mut seed = [0; 16];
                    SystemRandom.fill(&mut seed)?;
                    let limits = StoreLimits::new(SESSIONS, 1 << 26);
                    builder.local_store(Arc::new(LocalStore::new(limits, seed))).build()?
                }
            };
            return Ok((resumption, None));
        };
        let rotation =
            Rotation::new(lifetime)?.with_period(Duration::from_secs(self.number("period", lifetime.as_secs())?))?;
        let mut config = RemoteConfig::new(rotation, self.sealing_keys()?)
            .clock(clock)
            .metrics(Arc::clone(counters) as _)
            .refresh(Duration::from_millis(self.number("refresh", 200)?))
            .window(Duration::from_secs(self.number("window", 120)?));
        if let Some(start) = self.text("start") {
            config = config.start(Duration::from_millis(start.parse()?));
        }
        if let Some(budget) = self.text("budget") {
            config = config.budget(Duration::from_millis(budget.parse()?));
        }
        let (store, ring, status) = self.store(url, config)?;
        let resumption = match self.required("means")? {
            "tickets" => builder.tickets(ring).build()?,
            _ => builder.shared_store(store, ring).build()?,
        };
        Ok((resumption, Some(status)))
    }

    fn store(&self, url: &str, config: RemoteConfig) -> Result<(Arc<dyn SharedStore>, RingHandle, Status)> {
        if let Some(address) = url.strip_prefix("memcached://") {
            let (store, ring) = RemoteStore::start(Memcached(address.parse()?), config)?;
            return Ok((Arc::new(store.clone()), ring, Box::new(move || store.status().to_string())));
        }
        let urls = || url.split(',').map(str::to_owned).collect::<Vec<_>>();
        let topology = match self.text("topology") {
            Some("cluster") => Topology::Cluster(urls()),
            Some("sentinel") => Topology::Sentinel { sentinels: urls(), master: "sessions".to_owned() },
            _ => Topology::Single(url.to_owned()),
        };
        let mut config = ValkeyConfig::of(topology, config);
        if let Some(path) = self.text("store-ca") {
            config = config.ca(std::fs::read(path)?);
        }
        let (store, ring) = Valkey::start(config)?;
        Ok((Arc::new(store.clone()), ring, Box::new(move || store.status().to_string())))
    }
}

/// How a store is. It holds the store.
type Status = Box<dyn Fn() -> String + Send + Sync>;

/// The system's clock, wrong by so many seconds.
#[derive(Debug)]
struct Skewed(i64);

impl TimeProvider for Skewed {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = UnixTime::now().as_secs().checked_add_signed(self.0)?;
        Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}

enum Server {
    Resuming(ResumingServer),
    /// As rustls does it by itself: what the library is compared with.
    Plain(Arc<ServerConfig>),
}

struct Node {
    server: Server,
    status: Option<Status>,
    counters: Arc<Counters>,
    failed: AtomicU64,
    name: String,
}

impl Node {
    fn serve(&self, stream: TcpStream) {
        let timeouts = stream.set_read_timeout(Some(Duration::from_secs(20))).and_then(|()| stream.set_nodelay(true));
        // Clients may close as they like.
        let _ = match (timeouts, &self.server) {
            (Ok(()), Server::Resuming(server)) => match server.accept(stream) {
                Ok(mut tls) => self.answer(&mut tls, |tls| &mut tls.conn).and_then(|()| tls.complete()),
                Err(error) => self.fail(error),
            },
            (Ok(()), Server::Plain(config)) => match ServerConnection::new(Arc::clone(config)) {
                Ok(conn) => self.answer(&mut StreamOwned::new(conn, stream), |tls| &mut tls.conn),
                Err(error) => self.fail(io::Error::other(error)),
            },
            (Err(error), _) => self.fail(error),
        };
    }

    fn fail(&self, error: io::Error) -> io::Result<()> {
        self.failed.fetch_add(1, Ordering::Relaxed);
        Err(error)
    }

    fn answer<T: Read + Write>(&self, tls: &mut T, connection: fn(&mut T) -> &mut ServerConnection) -> io::Result<()> {
        let mut request = Vec::new();
        loop {
            while !request.ends_with(b"\r\n\r\n") {
                let mut buffer = [0; 2048];
                match tls.read(&mut buffer)? {
                    0 => return Ok(()),
                    count => request.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                }
            }
            let text = String::from_utf8_lossy(&request).into_owned();
            let body = match text.split(' ').nth(1) {
                Some("/metrics") => self.counters.render(),
                Some("/status") => self.status.as_ref().map(|status| status()).unwrap_or_default(),
                Some("/failed") => self.failed.load(Ordering::Relaxed).to_string(),
                _ => format!("node={} kind={:?}\n", self.name, connection(tls).handshake_kind()),
            };
            write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
            tls.flush()?;
            if text.to_ascii_lowercase().contains("connection: close") {
                connection(tls).send_close_notify();
                return tls.flush();
            }
            request.clear();
        }
    }
}
