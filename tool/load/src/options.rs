//! What load to make, and of what shape.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reprise_clients::ClientRow;
use reprise_connection::exchange::Application;
use reprise_connection::prologue::Route;
use reprise_engine::{CertificatePolicy, ClientIdentity};
use reprise_model::{DescriptorShortage, Kind, Version};
use reprise_wire::{CipherSuite, NamedGroup};
use rustls_pki_types::ServerName;

/// Every choice of a load.
#[derive(Clone)]
pub struct LoadOptions {
    /// Where to connect.
    pub address: SocketAddr,
    /// What is offered.
    pub tls: Arc<TlsOptions>,
    /// When connections begin.
    pub arrival: Arrival,
    /// The rates of an open loop one after the other, which together last as long as [`LoadOptions::end`] says; empty where it has one.
    pub stages: Vec<Stage>,
    /// Over how long the load grows to its full size; of no meaning where there are stages.
    pub ramp: Duration,
    /// What begins in this time, the ramp included, is not counted.
    pub warmup: Duration,
    /// When it ends.
    pub end: LoadEnd,
    /// The kinds that are asked for, by weight.
    pub mix: Vec<(Kind, u32)>,
    /// What is asked, [`LoadOptions::requests`] times on each connection.
    pub application: Application,
    /// What lies between connecting and TLS; none where TLS begins at once.
    pub route: Option<Route>,
    /// Requests on each connection, one after the other; 0 for services that are not HTTP.
    pub requests: u32,
    /// How a connection ends.
    pub close: Close,
    /// Number of threads, each with its own event loop.
    pub threads: usize,
    /// The processors that threads are pinned to, in turns; none to leave that to the system.
    pub processors: Vec<usize>,
    /// Sessions that are held for resumption, over all threads.
    pub sessions: usize,
    /// Maximum time per connection.
    pub timeout: Duration,
    /// What the order of arrivals of a Poisson process comes from.
    pub seed: u64,
    /// The server's process, if it runs on this machine.
    pub server_pid: Option<u32>,
    /// What [`LoadOptions::fit_descriptors`] had no room for.
    pub shortage: Option<DescriptorShortage>,
}

/// What a ClientHello offers.
#[derive(Clone)]
pub struct TlsOptions {
    /// The version: one, so that a run is one thing.
    pub version: Version,
    /// The suites, in order of preference.
    pub cipher_suites: Vec<CipherSuite>,
    /// The groups, in order of preference; the first gets the key share under TLS 1.3.
    pub groups: Vec<NamedGroup>,
    /// The client in whose form connections offer: then suites and groups are not looked at.
    pub like: Option<&'static ClientRow>,
    /// Whether an encrypted_client_hello that holds nothing is sent under TLS 1.3.
    pub ech_grease: bool,
    /// The names that are sent, by weight. At least one, which may be no name.
    pub server_names: Vec<WeightedName>,
    /// The protocols that are offered by ALPN.
    pub alpn: Vec<Vec<u8>>,
    /// Where key shares come from.
    pub key_shares: KeyShareMode,
    /// Whether a TLS 1.3 ticket may be used more than once.
    pub reuse_tickets: bool,
    /// What to do with the server's certificate. Unless it is [`CertificatePolicy::Unchecked`], a connection costs what a real
    /// client pays.
    pub certificates: CertificatePolicy,
    /// The name that the certificate must be for where none is sent.
    pub host: ServerName<'static>,
    /// The client's own certificate.
    pub identity: Option<Arc<ClientIdentity>>,
}

/// What one connection is to be.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionPlan {
    /// The kind, where there is a session for it.
    pub kind: Kind,
    /// Which of [`TlsOptions::server_names`].
    pub name: usize,
}

/// A server name with its share of the connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedName {
    /// The name; none sends none.
    pub name: Option<String>,
    /// Its weight.
    pub weight: u32,
}

/// Where key shares come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyShareMode {
    /// The group's base point: no cost, and no secrecy.
    Unit,
    /// One key pair for each group and thread: one agreement for each connection.
    Reused,
    /// A key pair for each connection, as a real client has it.
    Fresh,
}

/// When connections begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival {
    /// A closed loop: each connection that ends is followed by another.
    Closed {
        /// Connections at once.
        connections: usize,
    },
    /// An open loop: connections begin when they are due, however long others take.
    Open {
        /// Connections each second; of several stages, on average.
        rate: f64,
        /// How they are spread.
        spread: ArrivalSpread,
        /// At most so many at once; what is due beyond waits, and its waiting counts.
        most: usize,
    },
}

/// A time in which an open loop has one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// How long it lasts.
    pub duration: Duration,
    /// Connections each second.
    pub rate: f64,
}

/// How arrivals are spread over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalSpread {
    /// At equal distances.
    Constant,
    /// Independent of one another.
    Poisson,
}

/// When a load ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadEnd {
    /// After this time, the warm-up not included.
    After(Duration),
    /// After so many connections, completed or failed.
    Count(u64),
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// With a reset: no TIME_WAIT holds the port.
    Rst,
    /// With a FIN.
    Fin,
    /// With a close_notify and a FIN, as RFC 9846 §6.1 wants it.
    Notify,
}

impl LoadOptions {
    /// A closed loop of 64 full TLS 1.3 handshakes over X25519 with unit key shares, one request each, for ten seconds.
    pub fn new(address: SocketAddr, request: impl Into<Arc<[u8]>>) -> Self {
        Self {
            address,
            tls: Arc::new(TlsOptions::new(Version::Tls13)),
            arrival: Arrival::Closed { connections: 64 },
            stages: Vec::new(),
            ramp: Duration::ZERO,
            warmup: Duration::ZERO,
            end: LoadEnd::After(Duration::from_secs(10)),
            mix: vec![(Kind::Full, 1)],
            application: Application::Http1 { request: request.into(), is_head: false },
            route: None,
            requests: 1,
            close: Close::Rst,
            threads: 1,
            processors: Vec::new(),
            sessions: 64,
            timeout: Duration::from_secs(10),
            seed: 0x5265_7072_6973_6521,
            server_pid: None,
            shortage: None,
        }
    }

    /// Whether each connection leaves a port in TIME_WAIT, which the kernel does not use again before its time as it does on
    /// loopback.
    pub(crate) fn uses_up_ports(&self) -> bool {
        self.close != Close::Rst && !self.address.ip().is_loopback()
    }

    /// When each stage ends, from the beginning.
    pub(crate) fn stage_ends(&self) -> impl Iterator<Item = Duration> + '_ {
        self.stages.iter().scan(self.warmup, |until, stage| {
            *until = until.saturating_add(stage.duration);
            Some(*until)
        })
    }

    /// How many connections there may be at once.
    pub(crate) fn most_connections(&self) -> usize {
        match self.arrival {
            Arrival::Closed { connections } => connections,
            Arrival::Open { most, .. } => most,
        }
    }
}

impl TlsOptions {
    /// What is offered under this version unless told otherwise.
    pub fn new(version: Version) -> Self {
        let suites = reprise_engine::suite::SUITES.iter().filter(|suite| suite.version == version);
        Self {
            version,
            cipher_suites: suites.map(|suite| suite.id).collect(),
            groups: vec![NamedGroup::X25519, NamedGroup::SECP256R1, NamedGroup::SECP384R1],
            like: None,
            ech_grease: false,
            server_names: vec![WeightedName { name: None, weight: 1 }],
            alpn: Vec::new(),
            key_shares: KeyShareMode::Unit,
            reuse_tickets: false,
            certificates: CertificatePolicy::Unchecked,
            host: ServerName::IpAddress(Ipv4Addr::LOCALHOST.into()),
            identity: None,
        }
    }
}
