//! Sessions of earlier releases: a fleet is upgraded node by node, and each node resumes what the others gave.
//!
//! `session/tests/vectors` has a file for each release, whose bytes stay as they are. `REPRISE_BLESS=1` writes that of this one,
//! where there is none yet.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use reprise_engine::{Offer, Session};
use reprise_lab::{Authority, Identity, KeyKind, ServerSpec};
use reprise_model::{Kind, Nanos, Version};
use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption};
use reprise_session::store::{Answer, Answers, Fetch, Lookup, SharedStore, StoreKey, Written};
use reprise_session::{KeyName, KeyRing, KeyTimes, RingHandle, TicketKey};
use reprise_session_tests::client::{self, FULL, Visit, visit};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::time_provider::TimeProvider;
use rustls_pki_types::UnixTime;
use serde_json::{Value, json};

/// When every session of a vector was made: 1 January 2026.
const MADE: u64 = 1_767_225_600;
const WAYS: [(&str, Version, Offer, Kind); 4] = [
    ("ticket, TLS 1.2", Version::Tls12, FULL, Kind::Ticket),
    ("ticket, TLS 1.3", Version::Tls13, FULL, Kind::Ticket),
    ("stored, TLS 1.2", Version::Tls12, Offer::Full { session_ticket: false }, Kind::Id),
    ("stored, TLS 1.3", Version::Tls13, FULL, Kind::Ticket),
];

#[test]
fn sessions_of_every_release_resume() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    if std::env::var_os("REPRISE_BLESS").is_some() {
        write(&folder.join(concat!(env!("CARGO_PKG_VERSION"), ".json")));
    }
    let releases: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!releases.is_empty());
    for release in releases {
        let vector: Value = serde_json::from_slice(&std::fs::read(&release).unwrap()).unwrap();
        let text = |name: &str| vector[name].as_str().unwrap();
        let identity = Identity::from_pem("vector", text("certificate"), text("key")).unwrap();
        for (way, version, _, kind) in WAYS {
            let made = &vector["sessions"][way];
            let store = Table::default();
            for (key, entry) in made["entries"].as_object().unwrap() {
                store.put(key_of(key), bytes(entry.as_str().unwrap()), Duration::ZERO);
            }
            let server = server(&identity, way, store.clone());
            let encoded = bytes(made["client"].as_str().unwrap());
            let session = Session::decode(&encoded, "vector", Nanos(0), SystemTime::now()).unwrap();
            let offer = match session {
                Session::Tls12(session) if session.ticket.is_some() => Offer::SessionTicket(session),
                Session::Tls12(session) => Offer::SessionId(session),
                Session::Tls13(ticket) => Offer::Ticket(ticket),
            };
            assert_eq!(connect(server, version, offer).kind, kind, "{way}, {}", release.display());
        }
    }
}

fn write(path: &Path) {
    if path.exists() {
        return;
    }
    let spec = ServerSpec { names: vec!["localhost".to_owned()], ..ServerSpec::new(KeyKind::P256) };
    let identity = Authority::new().unwrap().server(&spec).unwrap();
    let sessions = WAYS.into_iter().map(|(way, version, ask, _)| {
        let store = Table::default();
        let visited = connect(server(&identity, way, store.clone()), version, ask);
        let session = visited.sessions.last().unwrap().encode("vector", Nanos(0), SystemTime::now());
        let entries = store.0.lock().unwrap();
        let entries = entries.iter().map(|(key, entry)| (hex(key.as_bytes()), Value::from(hex(entry)))).collect();
        (way.to_owned(), json!({ "client": hex(&session), "entries": Value::Object(entries) }))
    });
    let sessions = Value::Object(sessions.collect());
    let vector = json!({ "certificate": identity.chain_pem(), "key": identity.key_pem(), "sessions": sessions });
    std::fs::write(path, serde_json::to_string_pretty(&vector).unwrap() + "\n").unwrap();
}

/// The node of a fleet whose certificate and ticket key are known, at the time of the vectors.
fn server(identity: &Identity, way: &str, store: Table) -> ResumingServer {
    let material: Vec<u8> = (0..64).collect();
    let time = |second| UnixTime::since_unix_epoch(Duration::from_secs(second));
    let times = KeyTimes {
        not_before: time(MADE - 3600),
        encrypt_until: time(MADE + 86_400),
        decrypt_until: time(MADE + 2 * 86_400),
    };
    let key = TicketKey::new(KeyName(*b"reprise, vectors"), &material, times).unwrap();
    let ring = RingHandle::new(KeyRing::new([key]).unwrap());
    let builder = Resumption::builder().clock(Arc::new(Stopped));
    let builder =
        if way.starts_with("ticket") { builder.tickets(ring) } else { builder.shared_store(Arc::new(store), ring) };
    let client_auth = ClientAuth::none();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let config = client_auth.apply(config.with_safe_default_protocol_versions().unwrap());
    let mut config = config.with_single_cert(identity.chain().to_vec(), identity.key_der()).unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.send_tls13_tickets = 1;
    ResumingServer::new(config, &client_auth, &builder.build().unwrap()).unwrap()
}

fn connect(server: ResumingServer, version: Version, offer: Offer) -> Visit {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = thread::spawn(move || {
        let mut tls = server.accept(listener.accept().unwrap().0).unwrap();
        let _request = tls.read(&mut [0; 4096]).unwrap();
        tls.conn.send_close_notify();
        tls.flush().unwrap();
    });
    // A client that resumes verifies no certificate; the one that makes vectors need not.
    let authority = Authority::new().unwrap();
    let mut config = Arc::unwrap_or_clone(client::config(&authority, version));
    config.certificates = reprise_engine::CertificatePolicy::AcceptAnyChain;
    let visited = visit(address, &Arc::new(config), offer, "/").unwrap();
    serving.join().unwrap();
    visited
}

#[derive(Debug)]
struct Stopped;

impl TimeProvider for Stopped {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(MADE)))
    }
}

#[derive(Clone, Debug, Default)]
struct Table(Arc<Mutex<HashMap<StoreKey, Vec<u8>>>>);

impl SharedStore for Table {
    fn fetch(&self, lookups: Vec<Lookup>) -> Fetch {
        let table = self.0.lock().unwrap();
        let answer = |key| table.get(&key).cloned().map_or(Answer::Absent, Answer::Found);
        let answers = lookups.iter().map(|lookup| (lookup.key(), answer(lookup.key()))).collect();
        Box::pin(std::future::ready(Answers::new(answers)))
    }

    fn put(&self, key: StoreKey, entry: Vec<u8>, _lifetime: Duration) -> Option<Written> {
        self.0.lock().unwrap().insert(key, entry);
        Some(Box::pin(std::future::ready(())))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn key_of(hex: &str) -> StoreKey {
    StoreKey::new(bytes(hex).try_into().unwrap())
}
