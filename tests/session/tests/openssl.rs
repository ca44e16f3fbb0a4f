//! Nodes on the openssl crate: tickets under one ring, sessions in one store, and what ends them.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use openssl::pkey::PKey;
use openssl::ssl::{SslAcceptor, SslMethod};
use openssl::x509::X509;
use reprise_engine::Offer;
use reprise_lab::{Authority, Identity, KeyKind, ServerSpec};
use reprise_model::{Kind, Version};
use reprise_session::key_file::{Format, KeyFiles, new_keys, write};
use reprise_session::store::SharedStore;
use reprise_session::ticket::Limits;
use reprise_session::{KeyEncryptionKeys, KeyRing, Random, RingHandle, Rotation, SystemRandom};
use reprise_session_openssl::Sessions;
use reprise_session_tests::client::{FULL, Visit, config, visit};
use reprise_session_tests::require_store;
use reprise_session_tests::store::Store;
use reprise_session_valkey::{Topology, Valkey, ValkeyConfig};
use rustls_pki_types::UnixTime;

const HOUR: u64 = 3600;

/// Servers with one certificate, and the clock that they go by.
struct World {
    authority: Authority,
    identity: Identity,
    /// Seconds that it is ahead of the system's.
    ahead: Arc<AtomicU64>,
}

impl World {
    fn new() -> Self {
        let authority = Authority::new().unwrap();
        let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
        Self { authority, identity, ahead: Arc::default() }
    }

    fn ring(&self, hours: u64) -> RingHandle {
        let rotation = Rotation::new(Duration::from_secs(hours * HOUR)).unwrap();
        RingHandle::in_memory(rotation, UnixTime::now()).unwrap()
    }

    /// A server in threads of its own; they end with the test.
    fn node(&self, sessions: Sessions) -> SocketAddr {
        let mut builder = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).unwrap();
        let chain = X509::stack_from_pem(self.identity.chain_pem().as_bytes()).unwrap();
        builder.set_certificate(&chain[0]).unwrap();
        builder.set_private_key(&PKey::private_key_from_pem(self.identity.key_pem().as_bytes()).unwrap()).unwrap();
        let ahead = Arc::clone(&self.ahead);
        let clock = move || {
            let now = UnixTime::now().as_secs() + ahead.load(Ordering::Relaxed);
            UnixTime::since_unix_epoch(Duration::from_secs(now))
        };
        sessions.clock(clock).apply(&mut builder).unwrap();
        let acceptor = Arc::new(builder.build());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let acceptor = Arc::clone(&acceptor);
                thread::spawn(move || serve(&acceptor, stream));
            }
        });
        address
    }

    fn visit(&self, node: SocketAddr, version: Version, offer: Offer) -> Visit {
        visit(node, &config(&self.authority, version, None), offer, "/").unwrap()
    }

    /// How a node takes what another gave.
    fn kind(&self, node: SocketAddr, version: Version, before: &Visit) -> Kind {
        self.visit(node, version, before.offer()).kind
    }
}

fn serve(acceptor: &SslAcceptor, stream: TcpStream) -> Option<()> {
    let mut tls = acceptor.accept(stream).ok()?;
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut buffer = [0; 2048];
        match tls.read(&mut buffer).ok()? {
            0 => return None,
            count => request.extend_from_slice(&buffer[..count]),
        }
    }
    tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n").ok()?;
    tls.shutdown().ok().map(drop)
}

#[test]
fn tickets_resume_at_every_node_under_one_ring() {
    let world = World::new();
    let ring = world.ring(6);
    let sessions = |context: &str, ring: &RingHandle| Sessions::tickets(context.as_bytes(), ring.clone());
    let [one, other] = [(); 2].map(|()| world.node(sessions("site", &ring)));
    let another_site = world.node(sessions("another site", &ring));
    let another_ring = world.node(sessions("site", &world.ring(6)));
    for version in [Version::Tls12, Version::Tls13] {
        let first = world.visit(one, version, FULL);
        assert_eq!((first.kind, first.body.as_str()), (Kind::Full, "hello\n"), "{version:?}");
        let again = world.visit(other, version, first.offer());
        assert_eq!((again.kind, again.sessions.len()), (Kind::Ticket, 1), "{version:?}");
        assert_eq!(world.kind(another_site, version, &first), Kind::Full, "{version:?}");
        assert_eq!(world.kind(another_ring, version, &first), Kind::Full, "{version:?}");
    }
}

#[test]
fn keys_and_chains_end() {
    let world = World::new();
    let limits = Limits::new().lifetime(Duration::from_secs(10 * HOUR)).chain(Duration::from_secs(5 * HOUR));
    let node = |ring: &RingHandle| world.node(Sessions::tickets(b"site", ring.clone()).limits(limits));
    // The keys of the one ring outlive the chain, those of the other do not.
    let [long, short] = [node(&world.ring(12)), node(&world.ring(1))];
    for version in [Version::Tls12, Version::Tls13] {
        world.ahead.store(0, Ordering::Relaxed);
        let (mut kept, old) = (world.visit(long, version, FULL), world.visit(short, version, FULL));
        // A renewed ticket is as old as the chain that it belongs to: the sixth hour is after its end.
        for hour in 1..6 {
            world.ahead.store(hour * HOUR, Ordering::Relaxed);
            let next = world.visit(long, version, kept.offer());
            assert_eq!(next.kind, if hour < 5 { Kind::Ticket } else { Kind::Full }, "{version:?} after {hour} h");
            if !next.sessions.is_empty() {
                kept = next;
            }
        }
        assert_eq!(world.kind(short, version, &old), Kind::Full, "{version:?}: the key is gone");
        world.ahead.store(0, Ordering::Relaxed);
    }
}

#[test]
fn keys_of_nginx_are_the_keys_of_tickets() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let rotation = Rotation::new(Duration::from_secs(HOUR)).unwrap();
    let ring = KeyRing::generate(&rotation, UnixTime::now(), &SystemRandom).unwrap();
    for bytes in [80, 48] {
        let path = folder.path().join(bytes.to_string());
        write(&path, Format::Nginx, &ring.keys().take(1).collect::<Vec<_>>()).unwrap();
        let content = std::fs::read(&path).unwrap();
        std::fs::write(&path, &content[..bytes]).unwrap();
        let read = || RingHandle::new(KeyFiles::new(Format::Nginx, [&path]).read().unwrap());
        let [one, other] = [(); 2].map(|()| world.node(Sessions::tickets(b"site", read())));
        let first = world.visit(one, Version::Tls13, FULL);
        let Some(reprise_engine::Session::Tls13(ticket)) = first.sessions.last() else { panic!("no ticket") };
        assert_eq!(ticket.ticket[..16], content[..16], "its name");
        assert_eq!(world.kind(other, Version::Tls13, &first), Kind::Ticket, "{bytes}");
    }
}

#[test]
fn sessions_in_a_store_resume_at_every_node() {
    require_store!();
    let world = World::new();
    let mut store = Store::start(&[]);
    let mut secret = [0; 32];
    SystemRandom.fill(&mut secret).unwrap();
    let start = || -> (Arc<dyn SharedStore>, RingHandle) {
        let rotation = Rotation::new(Duration::from_secs(HOUR)).unwrap();
        let keys = KeyEncryptionKeys::new([&secret[..]]).unwrap();
        let config = ValkeyConfig::new(Topology::Single(store.url()), rotation, keys);
        let (store, ring) = Valkey::start(config.budget(Duration::from_millis(500))).unwrap();
        (Arc::new(store), ring)
    };
    let [one, other, stranger] = ["site", "site", "another site"].map(|context| {
        let (store, ring) = start();
        world.node(Sessions::stored(context.as_bytes(), ring, store))
    });
    let ids = world.visit(one, Version::Tls12, Offer::Full { session_ticket: false });
    store.wait_for(&ids);
    assert_eq!(world.kind(stranger, Version::Tls12, &ids), Kind::Full);
    for _ in 0..2 {
        assert_eq!(world.kind(other, Version::Tls12, &ids), Kind::Id, "an ID is resumed as often as it is offered");
    }
    let tickets = world.visit(one, Version::Tls13, FULL);
    store.wait_for(&tickets);
    assert_eq!(world.kind(other, Version::Tls13, &tickets), Kind::Ticket);
    assert_eq!(world.kind(other, Version::Tls13, &tickets), Kind::Full, "it was taken");
    store.kill();
    assert_eq!(world.kind(other, Version::Tls12, &ids), Kind::Full, "an outage costs a full handshake");
}

/// A program, its folder of sessions and its keys.
struct Client {
    folder: tempfile::TempDir,
    node: SocketAddr,
}

impl Client {
    fn of(world: &World) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("authority"), world.authority.pem()).unwrap();
        let keys = new_keys(Duration::from_secs(24 * HOUR), 64, UnixTime::now(), &SystemRandom).unwrap();
        write(&folder.path().join("keys"), Format::Reprise, &keys.keys().collect::<Vec<_>>()).unwrap();
        Self { folder, node: world.node(Sessions::tickets(b"site", world.ring(6))) }
    }

    fn start(&self) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_session-client"));
        let [authority, sessions, keys] = ["authority", "sessions", "keys"].map(|name| self.folder.path().join(name));
        command.arg(self.node.to_string()).args([authority, sessions, keys]).stdout(Stdio::piped());
        command.spawn().unwrap()
    }

    fn resumes(&self) -> bool {
        let output = self.start().wait_with_output().unwrap();
        assert!(output.status.success());
        output.stdout == b"resumed\n"
    }
}

#[test]
fn a_program_that_is_started_again_and_again_resumes() {
    let client = Client::of(&World::new());
    // A thousand take a minute: just full.
    let starts = std::env::var("REPRISE_STARTS").map_or(200, |starts| starts.parse().unwrap());
    let resumed = (0..starts).filter(|_| client.resumes()).count();
    assert!(resumed * 100 >= starts * 99, "{resumed} of {starts}");
    let kept = std::fs::read_dir(client.folder.path().join("sessions")).unwrap().count();
    assert!((1..=8).contains(&kept), "{kept}");
}

#[test]
fn sixteen_at_once_that_are_killed_leave_whole_files() {
    let client = Client::of(&World::new());
    for round in 0..20u64 {
        let mut running: Vec<Child> = (0..16).map(|_| client.start()).collect();
        thread::sleep(Duration::from_millis(round * 3));
        for child in running.iter_mut().step_by(2) {
            child.kill().unwrap();
        }
        for (number, child) in running.into_iter().enumerate() {
            let output = child.wait_with_output().unwrap();
            assert!(number % 2 == 0 || output.status.success(), "one that was not killed fails");
        }
    }
    // Whatever is there resumes: each file is whole. One of TLS 1.3 gives another.
    for _ in 0..20 {
        assert!(client.resumes());
    }
    // And what is no session is removed, and costs a full handshake.
    let sessions = client.folder.path().join("sessions");
    for file in std::fs::read_dir(&sessions).unwrap() {
        std::fs::write(file.unwrap().path(), b"garbage").unwrap();
    }
    assert!(!client.resumes());
    assert!(client.resumes());
}
