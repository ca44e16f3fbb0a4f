//! A client and a server in memory.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reprise_lab::{Authority, Identity, KeyKind, ServerSpec, rustls_turn};
use reprise_session::metrics::Counters;
use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption, ResumptionBuilder};
use reprise_session::store::{Answers, LocalStore, StoreLimits};
use reprise_session::ticket::Limits;
use reprise_session::{RingHandle, Rotation};
use rustls::client::{ClientConnection, ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::ServerConnection;
use rustls::time_provider::TimeProvider;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, HandshakeKind, NamedGroup, RootCertStore, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

pub(crate) const VERSIONS: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

/// What resumes sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    Tickets,
    Store,
}

pub(crate) const MEANS: [Means; 2] = [Means::Tickets, Means::Store];

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

/// A clock that stands until it is moved.
#[derive(Debug)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(UnixTime::now().as_secs())))
    }

    pub(crate) fn now(&self) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_secs(self.0.load(Ordering::Relaxed)))
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(self.now())
    }
}

/// What nodes of one fleet have in common.
pub(crate) struct Fleet {
    pub(crate) authority: Authority,
    pub(crate) clock: Arc<Clock>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) ring: RingHandle,
    pub(crate) store: Arc<LocalStore>,
}

pub(crate) const LIMITS: Limits = Limits::new().lifetime(Duration::from_secs(600)).chain(Duration::from_secs(1500));

impl Fleet {
    pub(crate) fn new() -> Self {
        let clock = Clock::new();
        let ring = RingHandle::in_memory(Rotation::new(LIMITS.lifetime).unwrap(), clock.now()).unwrap();
        let store = Arc::new(LocalStore::new(StoreLimits::new(1000, 1 << 20), [5; 16]));
        Self { authority: Authority::new().unwrap(), clock, counters: Arc::default(), ring, store }
    }

    pub(crate) fn identity(&self, names: &[&str]) -> Identity {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        self.authority.server(&ServerSpec { names, ..ServerSpec::new(KeyKind::P256) }).unwrap()
    }

    pub(crate) fn builder(&self) -> ResumptionBuilder {
        Resumption::builder().limits(LIMITS).clock(self.clock.clone()).metrics(self.counters.clone())
    }

    pub(crate) fn resumption(&self, means: Means) -> Resumption {
        let builder = match means {
            Means::Tickets => self.builder().tickets(self.ring.clone()),
            Means::Store => self.builder().local_store(self.store.clone()),
        };
        builder.build().unwrap()
    }

    /// A server with a certificate for `localhost`, and what `change` makes of its configuration.
    pub(crate) fn server(&self, resumption: &Resumption) -> ResumingServer {
        server(&self.identity(&["localhost"]), &ClientAuth::none(), resumption, |_| ())
    }

    pub(crate) fn client(&self, version: &'static SupportedProtocolVersion) -> Client {
        Client::new(&self.authority, version, None)
    }
}

pub(crate) fn server(
    identity: &Identity,
    client_auth: &ClientAuth,
    resumption: &Resumption,
    change: impl FnOnce(&mut ServerConfig),
) -> ResumingServer {
    let config = plain_server(identity, client_auth, change);
    ResumingServer::new(config, client_auth, resumption).unwrap()
}

pub(crate) fn plain_server(
    identity: &Identity,
    client_auth: &ClientAuth,
    change: impl FnOnce(&mut ServerConfig),
) -> ServerConfig {
    let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
    let mut config = client_auth.apply(builder).with_single_cert(identity.chain().to_vec(), identity.key_der()).unwrap();
    change(&mut config);
    config
}

pub(crate) struct Client {
    pub(crate) config: ClientConfig,
    pub(crate) name: &'static str,
    pub(crate) sessions: Arc<Sessions>,
}

impl Client {
    pub(crate) fn new(
        authority: &Authority,
        version: &'static SupportedProtocolVersion,
        identity: Option<(Vec<CertificateDer<'static>>, rustls_pki_types::PrivateKeyDer<'static>)>,
    ) -> Self {
        Self::of_versions(authority, &[version], identity)
    }

    pub(crate) fn of_versions(
        authority: &Authority,
        versions: &[&'static SupportedProtocolVersion],
        identity: Option<(Vec<CertificateDer<'static>>, rustls_pki_types::PrivateKeyDer<'static>)>,
    ) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(authority.certificate().clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(provider()).with_protocol_versions(versions).unwrap();
        let builder = builder.with_root_certificates(roots);
        let mut config = match identity {
            Some((chain, key)) => builder.with_client_auth_cert(chain, key).unwrap(),
            None => builder.with_no_client_auth(),
        };
        let sessions = Arc::new(Sessions::default());
        config.resumption = rustls::client::Resumption::store(sessions.clone());
        Self { config, name: "localhost", sessions }
    }

    /// A handshake that must succeed: neither side may send an alert.
    pub(crate) fn connect(&self, server: &ResumingServer) -> Connected {
        self.try_connect(server).unwrap()
    }

    pub(crate) fn try_connect(&self, server: &ResumingServer) -> Result<Connected, rustls::Error> {
        self.connect_with(server, |_| Answers::default())
    }

    /// With what a shared store answers.
    pub(crate) fn connect_with(
        &self,
        server: &ResumingServer,
        answers: impl FnOnce(&reprise_session::ResumptionOffer) -> Answers,
    ) -> Result<Connected, rustls::Error> {
        let mut client = self.hello();
        let mut hello = Vec::new();
        client.write_tls(&mut hello).unwrap();
        let (offered, answers) = match server.look_ahead() {
            Some(mut ahead) => {
                let offered = ahead.receive(&hello).unwrap().unwrap();
                let answers = answers(&offered);
                (offered, answers)
            }
            None => Default::default(),
        };
        let (config, watch) = server.connection(&offered, answers);
        let mut connection = ServerConnection::new(config).unwrap();
        connection.read_tls(&mut &hello[..]).unwrap();
        drive(&mut client, &mut connection)?;
        watch.completed(&mut connection);
        Ok(Connected::of(&client, &connection))
    }

    /// Without this library.
    pub(crate) fn connect_plainly(&self, config: &Arc<ServerConfig>) -> Connected {
        let mut client = self.hello();
        let mut connection = ServerConnection::new(Arc::clone(config)).unwrap();
        drive(&mut client, &mut connection).unwrap();
        Connected::of(&client, &connection)
    }

    pub(crate) fn hello(&self) -> ClientConnection {
        let name = ServerName::try_from(self.name).unwrap();
        ClientConnection::new(Arc::new(self.config.clone()), name).unwrap()
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Connected {
    pub(crate) resumed: bool,
    /// Whether the server believes to know who the client is.
    pub(crate) client_is_known: bool,
}

impl Connected {
    fn of(client: &ClientConnection, server: &ServerConnection) -> Self {
        let resumed = server.handshake_kind() == Some(HandshakeKind::Resumed);
        assert_eq!(client.handshake_kind() == Some(HandshakeKind::Resumed), resumed);
        Self { resumed, client_is_known: server.peer_certificates().is_some() }
    }
}

/// Until neither has anything to say.
pub(crate) fn drive(client: &mut ClientConnection, server: &mut ServerConnection) -> Result<(), rustls::Error> {
    server.process_new_packets()?;
    let mut back = Vec::new();
    loop {
        let (mut there, mut heard) = (Vec::new(), Vec::new());
        rustls_turn(client, &back, &mut heard, &mut there)?;
        back.clear();
        rustls_turn(server, &there, &mut heard, &mut back)?;
        if there.is_empty() && back.is_empty() {
            assert!(!client.is_handshaking() && !server.is_handshaking());
            return Ok(());
        }
    }
}

/// A client's sessions, whatever server they came from: what a client that means harm would do.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    tls12: Mutex<Option<Tls12ClientSessionValue>>,
    tls13: Mutex<Vec<Tls13ClientSessionValue>>,
}

impl Sessions {
    pub(crate) fn clear(&self) {
        *self.tls12.lock().unwrap() = None;
        self.tls13.lock().unwrap().clear();
    }
}

impl ClientSessionStore for Sessions {
    fn set_kx_hint(&self, _: ServerName<'static>, _: NamedGroup) {}

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        *self.tls12.lock().unwrap() = Some(value);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.tls12.lock().unwrap().clone()
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        *self.tls12.lock().unwrap() = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.tls13.lock().unwrap().push(value);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.tls13.lock().unwrap().pop()
    }
}

/// What a client wrote before, and where a server's answer goes.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) sent: io::Cursor<Vec<u8>>,
    pub(crate) answered: Vec<u8>,
}

impl Read for Played {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.sent.read(buffer)
    }
}

impl Write for Played {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.answered.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stream that never has to wait.
#[cfg(feature = "tokio")]
mod asynchronous {
    use std::io::{self, Read, Write};
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    use super::Played;

    impl AsyncRead for Played {
        fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            let count = self.read(buffer.initialize_unfilled())?;
            buffer.advance(count);
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Played {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(self.write(bytes))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
}
