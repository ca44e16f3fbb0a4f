//! rustls, by either of its providers, as client and as server.

mod primitive;

use std::fmt;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use reprise_connection::{Detail, End, Endpoint, EndpointEvent, Fault};
use reprise_model::{Facts, FailureClass, FaultName, KeyPairs, Nanos, PskMode, Version};
use reprise_session::rustls::KeySharePool;
use rustls::client::{ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls12Resumption, Tls13ClientSessionValue};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::server::{NoServerSessionStorage, ProducesTickets, ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::{
    ClientConfig, ClientConnection, Connection, HandshakeKind, IoState, NamedGroup, RootCertStore, ServerConfig,
    ServerConnection, SupportedProtocolVersion,
};
use rustls_pki_types::ServerName;

use self::primitive::Beneath;
use crate::chain_memory::ChainMemory;
use crate::options::certificates;
use crate::reused_pair::ReusedPair;
use crate::session::LibrarySession;
use crate::{
    Ability, About, Context, ContextOptions, PrimitiveOptions, ReadyPrimitive, SessionMode, SessionPlan, Side, Stack,
    StackAccount, StackEndpoint, StackError, StackSession, StackSessions, closed,
};

/// Sessions that a server's cache holds.
const CACHED_SESSIONS: usize = 1024;
/// Key pairs that are made ahead at once.
const MOST_KEY_PAIRS: usize = 1024;

/// What a program reads of its data at once.
const READ: usize = 1 << 14;

/// rustls by one provider.
pub(crate) struct RustlsStack {
    about: About,
    provider: CryptoProvider,
    beneath: Beneath,
    ticketer: fn() -> Result<Arc<dyn ProducesTickets>, rustls::Error>,
}

/// A server's groups, and where its key pairs are made ahead.
type Groups = (Vec<&'static dyn SupportedKxGroup>, Option<&'static KeySharePool>);

impl RustlsStack {
    pub(crate) fn aws_lc_rs() -> Self {
        use rustls::crypto::aws_lc_rs;
        // Pure ML-KEM and SecP256r1MLKEM768 are not among those of the default.
        let kx_groups = aws_lc_rs::ALL_KX_GROUPS.to_vec();
        let provider = CryptoProvider { kx_groups, ..aws_lc_rs::default_provider() };
        Self::new("aws-lc-rs", Beneath::AwsLcRs, provider, aws_lc_rs::Ticketer::new, &[Ability::KeysReused])
    }

    pub(crate) fn ring() -> Self {
        use rustls::crypto::ring;
        Self::new("ring", Beneath::Ring, ring::default_provider(), ring::Ticketer::new, &[])
    }

    fn new(
        name: &str,
        beneath: Beneath,
        provider: CryptoProvider,
        ticketer: fn() -> Result<Arc<dyn ProducesTickets>, rustls::Error>,
        more: &[Ability],
    ) -> Self {
        const ABILITIES: [Ability; 12] = [
            Ability::Client,
            Ability::Server,
            Ability::Tls12,
            Ability::Tls13,
            Ability::Id,
            Ability::Ticket,
            Ability::ClientAuth,
            Ability::EarlyData,
            Ability::KeysAhead,
            Ability::ChainMemory,
            Ability::SharedContext,
            // Of a hybrid group it makes the share of its classical half too, where that is among the groups.
            Ability::AllShares,
        ];
        let about = About::built_in(&format!("rustls, {name}"), env!("REPRISE_RUSTLS"), &[&ABILITIES, more].concat());
        Self { about, provider, beneath, ticketer }
    }

    /// The provider with these suites and groups alone.
    fn pinned(&self, options: &ContextOptions<'_>) -> Result<CryptoProvider, StackError> {
        let suite = |&number: &u16| {
            let known = self.provider.cipher_suites.iter().find(|it| u16::from(it.suite()) == number).copied();
            known.ok_or_else(|| StackError::unsupported(format!("it has no suite {}", reprise_wire::CipherSuite(number))))
        };
        let group = |&number: &u16| {
            let known = self.provider.kx_groups.iter().find(|it| u16::from(it.name()) == number).copied();
            known.ok_or_else(|| StackError::unsupported(format!("it has no group {}", reprise_wire::NamedGroup(number))))
        };
        let mut provider = self.provider.clone();
        provider.cipher_suites = options.suites.iter().map(suite).collect::<Result<_, _>>()?;
        provider.kx_groups = options.groups.iter().map(group).collect::<Result<_, _>>()?;
        Ok(provider)
    }

    /// A server's groups with its key pairs as they are asked for. rustls takes groups that live as long as the process: these are leaked,
    /// once a context.
    fn groups_of_server(&self, pinned: &CryptoProvider, options: &ContextOptions<'_>) -> Result<Groups, StackError> {
        let groups = pinned.kx_groups.clone();
        match options.key_pairs {
            KeyPairs::Fresh => Ok((groups, None)),
            KeyPairs::Ahead => {
                // The others are there for the certificate's key alone.
                let mut groups = groups.into_iter();
                let Some(first) = groups.next() else { return Err(StackError::unsupported("there is no group")) };
                let pool: &'static KeySharePool = Box::leak(Box::new(KeySharePool::new(first, MOST_KEY_PAIRS)));
                let first: &'static dyn SupportedKxGroup = pool;
                Ok((std::iter::once(first).chain(groups).collect(), Some(pool)))
            }
            KeyPairs::Reused => {
                let reused = |group: &'static dyn SupportedKxGroup| {
                    let no_pair = || StackError::unsupported(format!("it reuses no key pair of {:?}", group.name()));
                    let pair = ReusedPair::make(group.name()).ok_or_else(no_pair)?.map_err(refused)?;
                    let pair: &'static dyn SupportedKxGroup = Box::leak(Box::new(pair));
                    Ok(pair)
                };
                Ok((groups.into_iter().map(reused).collect::<Result<_, StackError>>()?, None))
            }
        }
    }

    fn server(&self, options: &ContextOptions<'_>) -> Result<Role, StackError> {
        let mut provider = self.pinned(options)?;
        let (groups, pool) = self.groups_of_server(&provider, options)?;
        provider.kx_groups = groups;
        let provider = Arc::new(provider);
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[version(options.version)])
            .map_err(refused)?;
        let builder = match options.trust {
            None => builder.with_no_client_auth(),
            Some(trust) => {
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(trust)?), provider);
                let verifier = if options.require_client_certificate { verifier } else { verifier.allow_unauthenticated() };
                let verifier = verifier.build().map_err(|error| StackError::refused("client verifier", error))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let identity = options.identity.ok_or(StackError::refused("context", "a server needs a certificate"))?;
        let (chain, key) = identity.read()?;
        let mut config = builder.with_single_cert(chain, key).map_err(unusable_key)?;
        config.send_tls13_tickets = 0;
        config.max_early_data_size = options.max_early_data;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        match options.sessions {
            SessionMode::Off => {}
            SessionMode::Id => config.session_storage = ServerSessionMemoryCache::new(CACHED_SESSIONS),
            SessionMode::Ticket => {
                // Early data is accepted once a session, so that its tickets are names of what the server keeps.
                match options.max_early_data {
                    0 => config.ticketer = (self.ticketer)().map_err(refused)?,
                    _ => config.session_storage = ServerSessionMemoryCache::new(CACHED_SESSIONS),
                }
                config.send_tls13_tickets = 1;
            }
        }
        Ok(Role::Server(Arc::new(config), pool))
    }

    fn client(&self, options: &ContextOptions<'_>, slot: &Arc<Slot>) -> Result<Arc<ClientConfig>, StackError> {
        let trust = options.trust.ok_or(StackError::refused("context", "a client needs roots"))?;
        let provider = Arc::new(self.pinned(options)?);
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[version(options.version)])
            .map_err(refused)?;
        let builder = match options.remembers_chains {
            false => builder.with_root_certificates(roots(trust)?),
            true => builder.dangerous().with_custom_certificate_verifier(ChainMemory::new(roots(trust)?, provider)?),
        };
        let mut config = match options.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (chain, key) = identity.read()?;
                builder.with_client_auth_cert(chain, key).map_err(unusable_key)?
            }
        };
        config.enable_early_data = options.max_early_data > 0;
        config.resumption = resumption(options.sessions, slot);
        Ok(Arc::new(config))
    }
}

/// How a client resumes what is in its slot.
fn resumption(sessions: SessionMode, slot: &Arc<Slot>) -> Resumption {
    match sessions {
        SessionMode::Off => Resumption::disabled(),
        mode => Resumption::store(Arc::clone(slot) as Arc<dyn ClientSessionStore>).tls12_resumption(match mode {
            SessionMode::Id => Tls12Resumption::SessionIdOnly,
            _ => Tls12Resumption::SessionIdOrTickets,
        }),
    }
}

impl Stack for RustlsStack {
    fn about(&self) -> &About {
        &self.about
    }

    fn context(&self, options: &ContextOptions<'_>) -> Result<Box<dyn Context>, StackError> {
        if options.sessions == SessionMode::Id && options.version == Version::Tls13 {
            return Err(StackError::unsupported("TLS 1.3 has no session IDs"));
        }
        if options.psk_mode == PskMode::PskKe {
            return Err(StackError::unsupported("rustls resumes with a key exchange alone"));
        }
        let slot = Arc::new(Slot::default());
        let role = match options.side {
            Side::Server => self.server(options)?,
            Side::Client => {
                let name = ServerName::try_from(options.server_name.to_owned());
                let name = name.map_err(|error| StackError::refused("server name", error))?;
                Role::Client(self.client(options, &slot)?, name)
            }
        };
        Ok(Box::new(RustlsContext { role, slot, sessions: options.sessions }))
    }

    fn primitive(&self, options: &PrimitiveOptions<'_>) -> Result<Box<dyn ReadyPrimitive>, StackError> {
        primitive::primitive(&self.provider, self.beneath, options)
    }
}

fn version(version: Version) -> &'static SupportedProtocolVersion {
    match version {
        Version::Tls12 => &rustls::version::TLS12,
        Version::Tls13 => &rustls::version::TLS13,
    }
}

fn roots(pem: &str) -> Result<RootCertStore, StackError> {
    let mut roots = RootCertStore::empty();
    for root in certificates("roots", pem)? {
        roots.add(root).map_err(refused)?;
    }
    Ok(roots)
}

fn refused(error: rustls::Error) -> StackError {
    StackError::refused("rustls", error)
}

/// A key that the provider cannot read is one that it does not support, as RSA-1024 is.
fn unusable_key(error: rustls::Error) -> StackError {
    StackError::unsupported(format!("it does not take the key: {error}"))
}

#[derive(Clone)]
enum Role {
    Server(Arc<ServerConfig>, Option<&'static KeySharePool>),
    Client(Arc<ClientConfig>, ServerName<'static>),
}

struct RustlsContext {
    role: Role,
    slot: Arc<Slot>,
    sessions: SessionMode,
}

impl Context for RustlsContext {
    fn endpoint(&self) -> Box<dyn StackEndpoint> {
        let (role, slot) = (self.role.clone(), Arc::clone(&self.slot));
        Box::new(RustlsEndpoint {
            role,
            slot,
            connection: None,
            early_data: Vec::new(),
            read: vec![0; READ],
            was_ready: false,
        })
    }

    fn import(&self, _bytes: &[u8]) -> Result<StackSession, StackError> {
        Err(StackError::unsupported("rustls takes no session as bytes"))
    }

    fn pregenerate(&self, count: usize) -> Result<(), StackError> {
        let Role::Server(_, Some(pool)) = &self.role else {
            return Err(StackError::unsupported("this context makes no key pairs ahead"));
        };
        if pool.statistics().missed > 0 {
            return Err(StackError::refused("pregenerate", "a connection found no key pair that was made ahead"));
        }
        pool.fill(count).map_err(refused)?;
        Ok(())
    }

    /// A client's slot holds one session, that of the connection that begins next: each thread has its own, and all else together.
    fn for_another_thread(&self) -> Result<Box<dyn Context + Send>, StackError> {
        let slot = Arc::new(Slot::default());
        let role = match &self.role {
            Role::Client(config, name) => {
                let mut config = ClientConfig::clone(config);
                config.resumption = resumption(self.sessions, &slot);
                Role::Client(Arc::new(config), name.clone())
            }
            server @ Role::Server(..) => server.clone(),
        };
        Ok(Box::new(Self { role, slot, sessions: self.sessions }))
    }
}

/// What a client's connection left, as rustls hands it to its store.
enum RustlsSession {
    Tls12(Tls12ClientSessionValue),
    Tls13(Box<Tls13ClientSessionValue>),
}

impl LibrarySession for RustlsSession {
    fn again(&self) -> Option<StackSession> {
        match self {
            Self::Tls12(session) => Some(StackSession::new(Self::Tls12(session.clone()))),
            Self::Tls13(_) => None,
        }
    }

    fn export(&self) -> Result<Vec<u8>, StackError> {
        Err(StackError::unsupported("rustls gives no session as bytes"))
    }

    fn library(&self) -> &'static str {
        "rustls"
    }
}

/// rustls' store of one session: what the next connection finds, and then what it leaves. It begins one at a time.
#[derive(Default)]
struct Slot {
    offered: Mutex<Option<RustlsSession>>,
    left: Mutex<Option<RustlsSession>>,
}

impl Slot {
    fn begin(&self, offered: Option<RustlsSession>) {
        *lock(&self.offered) = offered;
        *lock(&self.left) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slot")
    }
}

impl ClientSessionStore for Slot {
    fn set_kx_hint(&self, _name: ServerName<'static>, _group: NamedGroup) {}

    fn kx_hint(&self, _name: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, _name: ServerName<'static>, value: Tls12ClientSessionValue) {
        *lock(&self.left) = Some(RustlsSession::Tls12(value));
    }

    fn tls12_session(&self, _name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        match &*lock(&self.offered) {
            Some(RustlsSession::Tls12(value)) => Some(value.clone()),
            _ => None,
        }
    }

    fn remove_tls12_session(&self, _name: &ServerName<'static>) {}

    fn insert_tls13_ticket(&self, _name: ServerName<'static>, value: Tls13ClientSessionValue) {
        *lock(&self.left) = Some(RustlsSession::Tls13(Box::new(value)));
    }

    fn take_tls13_ticket(&self, _name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        let mut offered = lock(&self.offered);
        match offered.take() {
            Some(RustlsSession::Tls13(value)) => Some(*value),
            // It asks for a ticket first, whatever the version.
            other => {
                *offered = other;
                None
            }
        }
    }
}

struct RustlsEndpoint {
    role: Role,
    slot: Arc<Slot>,
    /// In a box, so that the memory of a connection is the heap's, as a C library's is.
    connection: Option<Box<Connection>>,
    early_data: Vec<u8>,
    read: Vec<u8>,
    was_ready: bool,
}

impl RustlsEndpoint {
    fn connection(&mut self) -> Result<&mut Connection, Fault> {
        self.connection.as_deref_mut().ok_or_else(closed)
    }

    /// How many bytes it took: after close_notify none.
    fn take_in(&mut self, unread: &mut &[u8]) -> Result<usize, Fault> {
        self.connection()?.read_tls(unread).map_err(|error| Fault::of_transport(FailureClass::Tls, "record", &error))
    }

    /// Acts on what it took. After a fault its alert is in `out`.
    fn process(&mut self, out: &mut Vec<u8>) -> Result<IoState, Fault> {
        let connection = self.connection.as_mut().ok_or_else(closed)?;
        let processed = connection.process_new_packets();
        if let Connection::Server(server) = &mut **connection
            && let Some(mut early) = server.early_data()
        {
            let read = early.read_to_end(&mut self.early_data);
            read.map_err(|error| Fault::of_transport(FailureClass::Request, "early data", &error))?;
        }
        if processed.is_err() {
            self.flush(out)?;
        }
        processed.map_err(fault)
    }

    /// Whether the handshake is complete, and was not when this was asked before.
    fn becomes_ready(&mut self) -> Result<bool, Fault> {
        let is_ready = !self.connection()?.is_handshaking();
        Ok(is_ready && !std::mem::replace(&mut self.was_ready, is_ready))
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let connection = self.connection()?;
        while connection.wants_write() {
            connection.write_tls(out).map_err(|error| Fault::of_transport(FailureClass::Tls, "room", &error))?;
        }
        Ok(())
    }
}

impl Endpoint for RustlsEndpoint {
    type Shared = StackSessions;
    type Plan = SessionPlan;

    fn begin(
        &mut self,
        _shared: &mut StackSessions,
        plan: SessionPlan,
        _now: Nanos,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        self.was_ready = false;
        self.early_data.clear();
        self.slot.begin(plan.session.map(StackSession::into_own).transpose()?);
        let connection = match &self.role {
            Role::Server(config, _) => ServerConnection::new(Arc::clone(config)).map(Connection::from),
            Role::Client(config, name) => ClientConnection::new(Arc::clone(config), name.clone()).map(Connection::from),
        };
        let connection = self.connection.insert(Box::new(connection.map_err(fault)?));
        // Where the session allows none, there is no writer.
        if let (Connection::Client(client), Some(data)) = (&mut **connection, plan.early_data)
            && let Some(mut early) = client.early_data()
        {
            early.write_all(&data).map_err(|error| Fault::of_transport(FailureClass::Request, "early data", &error))?;
        }
        self.flush(out)
    }

    fn receive<'r>(
        &mut self,
        _shared: &mut StackSessions,
        _now: Nanos,
        record: &'r mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<EndpointEvent<'r>, Fault> {
        let mut unread = &*record;
        // It takes a few kilobytes at a time.
        let state = loop {
            let taken = self.take_in(&mut unread)?;
            let state = self.process(out)?;
            if unread.is_empty() || taken == 0 {
                break state;
            }
        };
        self.flush(out)?;
        if state.plaintext_bytes_to_read() > 0 {
            // What a record holds is shorter than the record.
            let place = record.get_mut(..state.plaintext_bytes_to_read()).ok_or_else(|| Fault::new(FaultName::TooLarge))?;
            let read = self.connection()?.reader().read_exact(place);
            read.map_err(|error| Fault::of_transport(FailureClass::Request, "data", &error))?;
            return Ok(EndpointEvent::Data(place));
        }
        Ok(match (self.becomes_ready()?, state.peer_has_closed()) {
            (true, _) => EndpointEvent::Ready,
            (false, true) => EndpointEvent::Closed,
            (false, false) => EndpointEvent::Nothing,
        })
    }

    fn receive_end(&mut self, _now: Nanos, _in_record: bool, _out: &mut Vec<u8>) -> Result<(), Fault> {
        if self.was_ready { Ok(()) } else { Err(Fault::new(FaultName::ClosedEarly)) }
    }

    fn send(&mut self, _now: Nanos, data: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let mut rest = data;
        while !rest.is_empty() {
            // Its buffer has a limit, so that more than one round may be needed.
            let written = self.connection()?.writer().write(rest);
            let written = written.map_err(|error| Fault::of_transport(FailureClass::Request, "room", &error))?;
            rest = rest.get(written..).unwrap_or_default();
            self.flush(out)?;
        }
        Ok(())
    }

    fn close(&mut self, _now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.connection()?.send_close_notify();
        self.flush(out)
    }

    /// rustls does not tell a server how it resumed: [`StackEndpoint::account`] says what it tells.
    fn facts(&self) -> Option<Facts> {
        None
    }

    fn is_confirmed(&self) -> bool {
        self.was_ready
    }

    fn end(&mut self, shared: &mut StackSessions, how: End) {
        self.connection = None;
        let left = lock(&self.slot.left).take();
        shared.extend(left.filter(|_| how == End::Completed).map(StackSession::new));
    }
}

impl StackEndpoint for RustlsEndpoint {
    fn early_data(&self) -> &[u8] {
        &self.early_data
    }

    /// It reads 4 KiB at a time, and where a record ends with them gives its buffer back: a record by itself would always.
    fn receive_all(
        &mut self,
        _sessions: &mut StackSessions,
        records: &mut [u8],
        out: &mut Vec<u8>,
        hear: &mut dyn FnMut(EndpointEvent<'_>),
    ) -> Result<(), Fault> {
        let mut unread = &*records;
        while !unread.is_empty() {
            let taken = self.take_in(&mut unread)?;
            let state = self.process(out)?;
            if self.becomes_ready()? {
                hear(EndpointEvent::Ready);
            }
            let Self { connection, read, .. } = self;
            let connection = connection.as_mut().ok_or_else(closed)?;
            let mut left = state.plaintext_bytes_to_read();
            while left > 0 {
                let count = connection.reader().read(read);
                let count = count.map_err(|error| Fault::of_transport(FailureClass::Request, "data", &error))?;
                hear(EndpointEvent::Data(read.get(..count).unwrap_or_default()));
                left = left.saturating_sub(count.max(1));
            }
            if state.peer_has_closed() {
                hear(EndpointEvent::Closed);
            }
            if taken == 0 {
                break;
            }
        }
        self.flush(out)
    }

    fn account(&self) -> Result<StackAccount, StackError> {
        let incomplete = || StackError::refused("account", "the handshake is not complete");
        let connection = self.connection.as_ref().ok_or_else(incomplete)?;
        let suite = connection.negotiated_cipher_suite().ok_or_else(incomplete)?;
        Ok(StackAccount {
            version: connection.protocol_version().map_or(0, u16::from),
            suite: u16::from(suite.suite()),
            group: connection.negotiated_key_exchange_group().map(|group| u16::from(group.name())),
            resumed: connection.handshake_kind().map(|kind| kind == HandshakeKind::Resumed),
            resumed_by: None,
            client_certificate: match &self.role {
                Role::Server(..) => Some(connection.peer_certificates().is_some()),
                Role::Client(..) => None,
            },
            early_data: match &**connection {
                Connection::Client(client) => Some(client.is_early_data_accepted()),
                Connection::Server(_) => None,
            },
        })
    }
}

fn fault(error: rustls::Error) -> Fault {
    let name = match error {
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => FaultName::BadCertificate,
        rustls::Error::AlertReceived(alert) => FaultName::Alert(u8::from(alert)),
        _ => FaultName::PeerMisbehaved,
    };
    Fault::new(name).with(Detail::Said(error.to_string().into_bytes()))
}
