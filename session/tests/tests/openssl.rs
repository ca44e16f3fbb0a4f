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

use aws_lc_rs::digest;
use openssl::asn1::Asn1Time;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::ssl::{SslAcceptor, SslConnector, SslContextBuilder, SslMethod, SslVerifyMode, SslVersion};
use openssl::x509::{X509, X509Builder};
use reprise_engine::Offer;
use reprise_lab::{Authority, Identity, KeyKind, ServerSpec};
use reprise_model::{Kind, Version};
use reprise_session::key_file::{KeyFileFormat, KeyFiles, new_keys, write};
use reprise_session::store::SharedStore;
use reprise_session::ticket::Limits;
use reprise_session::{KeyEncryptionKeys, KeyRing, RingHandle, Rotation, SystemRandom};
use reprise_session_openssl::{ClientSessions, Sessions};
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
        self.node_with(sessions, |_| ())
    }

    fn node_with(&self, sessions: Sessions, configure: impl FnOnce(&mut SslContextBuilder)) -> SocketAddr {
        let mut builder = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).unwrap();
        let chain = X509::stack_from_pem(self.identity.chain_pem().as_bytes()).unwrap();
        builder.set_certificate(&chain[0]).unwrap();
        builder.set_private_key(&PKey::private_key_from_pem(self.identity.key_pem().as_bytes()).unwrap()).unwrap();
        let ahead = Arc::clone(&self.ahead);
        let clock = move || {
            let now = UnixTime::now().as_secs() + ahead.load(Ordering::Relaxed);
            UnixTime::since_unix_epoch(Duration::from_secs(now))
        };
        configure(&mut builder);
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
        visit(node, &config(&self.authority, version), offer, "/").unwrap()
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

/// A client's certificate that ends in two hours, and that the server trusts as it is.
fn short_certificate() -> (X509, PKey<Private>) {
    let key = EcKey::generate(&EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap()).unwrap();
    let key = PKey::from_ec_key(key).unwrap();
    let now = i64::try_from(UnixTime::now().as_secs()).unwrap();
    let mut builder = X509Builder::new().unwrap();
    builder.set_version(2).unwrap();
    builder.set_pubkey(&key).unwrap();
    builder.set_not_before(&Asn1Time::from_unix(now - 60).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::from_unix(now + 7200).unwrap()).unwrap();
    builder.sign(&key, MessageDigest::sha256()).unwrap();
    (builder.build(), key)
}

#[test]
fn a_client_certificate_ends_its_sessions() {
    require_store!();
    let world = World::new();
    let store = Store::start(&[]);
    let (certificate, key) = short_certificate();
    let limits = Limits::new().lifetime(Duration::from_secs(10 * HOUR));
    let (shared, ring) = start_store(&store, 12);
    let of_client = |sessions: Sessions| {
        world.node_with(sessions.limits(limits), |builder| {
            builder.set_verify(SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT);
            builder.cert_store_mut().add_cert(certificate.clone()).unwrap();
        })
    };
    let nodes = [of_client(Sessions::tickets(b"site", ring.clone())), of_client(Sessions::stored(b"site", ring, shared))];
    for version in [SslVersion::TLS1_2, SslVersion::TLS1_3] {
        for node in nodes {
            let folder = tempfile::tempdir().unwrap();
            let client_ring = world.ring(12);
            let sessions = ClientSessions::new(folder.path(), b"", client_ring).unwrap();
            let resumes = || {
                let mut builder = SslConnector::builder(SslMethod::tls_client()).unwrap();
                builder.set_verify(SslVerifyMode::NONE);
                builder.set_min_proto_version(Some(version)).unwrap();
                builder.set_max_proto_version(Some(version)).unwrap();
                builder.set_certificate(&certificate).unwrap();
                builder.set_private_key(&key).unwrap();
                sessions.apply(&mut builder).unwrap();
                let mut ssl = builder.build().configure().unwrap().into_ssl("localhost").unwrap();
                sessions.offer(&mut ssl, "node");
                let mut tls = ssl.connect(TcpStream::connect(node).unwrap()).unwrap();
                tls.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
                let _ = tls.read_to_end(&mut Vec::new());
                tls.ssl().session_reused()
            };
            let mut seen = Vec::new();
            for hour in [0, 1, 3] {
                world.ahead.store(hour * HOUR, Ordering::Relaxed);
                seen.push(resumes());
            }
            world.ahead.store(0, Ordering::Relaxed);
            assert_eq!(seen, [false, true, false], "{version:?}");
        }
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
        write(&path, KeyFileFormat::Nginx, &ring.keys().take(1).collect::<Vec<_>>()).unwrap();
        let content = std::fs::read(&path).unwrap();
        std::fs::write(&path, &content[..bytes]).unwrap();
        let read = || RingHandle::new(KeyFiles::new(KeyFileFormat::Nginx, [&path]).read().unwrap());
        let [one, other] = [(); 2].map(|()| world.node(Sessions::tickets(b"site", read())));
        let first = world.visit(one, Version::Tls13, FULL);
        let Some(reprise_engine::Session::Tls13(ticket)) = first.sessions.last() else { panic!("no ticket") };
        assert_eq!(ticket.ticket[..16], content[..16], "its name");
        assert_eq!(world.kind(other, Version::Tls13, &first), Kind::Ticket, "{bytes}");
    }
}

/// One node's view of it.
fn start_store(store: &Store, hours: u64) -> (Arc<dyn SharedStore>, RingHandle) {
    let rotation = Rotation::new(Duration::from_secs(hours * HOUR)).unwrap();
    // As any 32 random bytes.
    let keys = KeyEncryptionKeys::new([digest::digest(&digest::SHA256, b"the fleet").as_ref()]).unwrap();
    let config = ValkeyConfig::new(Topology::Single(store.url()), rotation, keys);
    let (store, ring) = Valkey::start(config.budget(Duration::from_millis(500))).unwrap();
    (Arc::new(store), ring)
}

#[test]
fn sessions_in_a_store_resume_at_every_node() {
    require_store!();
    let world = World::new();
    let mut store = Store::start(&[]);
    let [one, other, stranger] = ["site", "site", "another site"].map(|context| {
        let (store, ring) = start_store(&store, 1);
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
        write(&folder.path().join("keys"), KeyFileFormat::Reprise, &keys.keys().collect::<Vec<_>>()).unwrap();
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
