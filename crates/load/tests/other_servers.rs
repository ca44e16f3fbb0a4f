//! Unit key shares against Go and rustls, post-quantum ones among them, and what a server may ask for besides.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use reprise_engine::{CertificatePolicy, WebPkiVerifier};
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, Resumption, ServerSpec, Versions};
use reprise_load::{
    Arrival, Close, KeyShareMode, LoadEnd, LoadOutcome, Options, Silent, TlsOptions, WeightedName, engine_configs, run,
};
use reprise_servers::{ClientVerify, HaProxy, HaProxyConfig, Nginx, NginxConfig, RealServer, find};
use reprise_trace::document::{Provenance, Target};
use reprise_trace::{Kind, LoadNotice, RefusalCause, Version};
use reprise_wire::NamedGroup;

const COUNT: u64 = 12;

const MODES: [KeyShareMode; 3] = [KeyShareMode::Unit, KeyShareMode::Reused, KeyShareMode::Fresh];

fn load(address: SocketAddr, tls: TlsOptions, mix: &[Kind]) -> LoadOutcome {
    let options = Options {
        tls: Arc::new(tls),
        arrival: Arrival::Closed { connections: 3 },
        end: LoadEnd::Count(COUNT),
        mix: mix.iter().map(|kind| (*kind, 1)).collect(),
        sessions: 2,
        ..Options::new(address, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec())
    };
    run(&options, &|| false, &Silent).unwrap()
}

fn offering(version: Version, group: NamedGroup, key_shares: KeyShareMode) -> TlsOptions {
    let mut groups = vec![group];
    // RFC 8422 §5.1: in TLS 1.2 the curve of the certificate's key must be among the groups.
    if version == Version::Tls12 && group != NamedGroup::SECP256R1 {
        groups.push(NamedGroup::SECP256R1);
    }
    TlsOptions { groups, key_shares, ..TlsOptions::new(version) }
}

/// A server that ends with the test.
struct GoServer {
    child: Child,
    address: SocketAddr,
}

impl GoServer {
    fn start(authority: &Authority) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
        let files = identity.write_pem(directory.path(), "go").unwrap();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/go/server.go");
        let program = directory.path().join("server");
        let go = find("go").unwrap();
        let built =
            Command::new(go).args(["build", "-o"]).arg(&program).arg(source).env("GO111MODULE", "off").status().unwrap();
        assert!(built.success());
        // Without a module, Go takes the defaults of an old version, which had no such group.
        let mut child = Command::new(&program)
            .env("GODEBUG", "tlsmlkem=1")
            .arg(files.certificate)
            .arg(files.key)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, address: line.trim().parse().unwrap() }
    }
}

impl Drop for GoServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn go_accepts_unit_shares_of_every_group() {
    reprise_servers::require!("go");
    let server = GoServer::start(&Authority::new().unwrap());
    let curves = [NamedGroup::X25519, NamedGroup::SECP256R1, NamedGroup::SECP384R1];
    let tls13 = curves.into_iter().chain([NamedGroup::X25519MLKEM768]).map(|group| (Version::Tls13, group));
    for (version, group) in tls13.chain(curves.map(|group| (Version::Tls12, group))) {
        for key_shares in MODES {
            let outcome = load(server.address, offering(version, group, key_shares), &[Kind::Full]);
            assert_eq!(outcome.completed(Kind::Full), COUNT, "{version} {group} {key_shares:?}: {:?}", outcome.errors());
        }
        let outcome = load(server.address, offering(version, group, KeyShareMode::Unit), &[Kind::Ticket]);
        assert!(outcome.completed(Kind::Ticket) >= COUNT - 6, "{version} {group} resumed: {:?}", outcome.errors());
    }
}

#[test]
fn rustls_accepts_unit_shares_of_the_hybrid_group() {
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let server = EmbeddedServer::start(EmbeddedConfig {
        groups: vec![reprise_lab::NamedGroup::X25519MLKEM768],
        resumption: Resumption::Ticket,
        ..EmbeddedConfig::new(identity)
    })
    .unwrap();
    for key_shares in MODES {
        for kind in [Kind::Full, Kind::Ticket] {
            let outcome = load(server.address(), offering(Version::Tls13, NamedGroup::X25519MLKEM768, key_shares), &[kind]);
            let completed = outcome.completed(Kind::Full) + outcome.completed(Kind::Ticket);
            assert_eq!(completed, COUNT, "{key_shares:?} {kind}: {:?}", outcome.errors());
            assert_eq!(outcome.completed(Kind::Ticket) > 0, kind == Kind::Ticket);
        }
    }
}

/// The engine makes connections where certificates are verified: with unit shares of its trait, or with real ones.
#[test]
fn go_and_rustls_accept_verified_hybrid_shares() {
    reprise_servers::require!("go");
    let authority = Authority::new().unwrap();
    let rustls = EmbeddedServer::start(EmbeddedConfig {
        groups: vec![reprise_lab::NamedGroup::X25519MLKEM768],
        resumption: Resumption::Ticket,
        ..EmbeddedConfig::new(authority.server(&ServerSpec::new(KeyKind::P256)).unwrap())
    })
    .unwrap();
    let go = GoServer::start(&authority);
    let verifier = WebPkiVerifier::new(&[authority.certificate().clone()]).0;
    let policy = CertificatePolicy::Verify(Arc::new(verifier));
    for address in [go.address, rustls.address()] {
        for key_shares in [KeyShareMode::Unit, KeyShareMode::Fresh] {
            for kind in [Kind::Full, Kind::Ticket] {
                let tls = offering(Version::Tls13, NamedGroup::X25519MLKEM768, key_shares);
                let engine = engine_configs(&tls, "localhost", &policy, None).unwrap();
                let outcome = load(address, TlsOptions { engine, ..tls }, &[kind]);
                let completed = outcome.completed(Kind::Full) + outcome.completed(Kind::Ticket);
                assert_eq!(completed, COUNT, "{address} {key_shares:?} {kind}: {:?}", outcome.errors());
                assert_eq!(outcome.completed(Kind::Ticket) > 0, kind == Kind::Ticket, "{address} {key_shares:?}");
            }
        }
    }
}

/// rustls keeps the sessions of its names apart (RFC 6066 §3, RFC 8446 §4.6.1).
#[test]
fn a_session_is_offered_under_the_name_that_it_was_made_for() {
    let authority = Authority::new().unwrap();
    let name = |name: &str, weight| WeightedName { name: Some(name.to_owned()), weight };
    let names = vec![name("a.localhost", 3), name("b.localhost", 1)];
    let verifier = Arc::new(WebPkiVerifier::new(&[authority.certificate().clone()]).0);
    for (version, versions) in [(Version::Tls12, Versions::Tls12), (Version::Tls13, Versions::Tls13)] {
        let spec = ServerSpec {
            names: names.iter().filter_map(|name| name.name.clone()).collect(),
            ..ServerSpec::new(KeyKind::P256)
        };
        let identity = authority.server(&spec).unwrap();
        let config = EmbeddedConfig { versions, resumption: Resumption::Ticket, ..EmbeddedConfig::new(identity) };
        let server = EmbeddedServer::start(config).unwrap();
        let lean = TlsOptions { server_names: names.clone(), ..TlsOptions::new(version) };
        let policy = CertificatePolicy::Verify(verifier.clone());
        let engine = engine_configs(&lean, "localhost", &policy, None).unwrap();
        for tls in [lean.clone(), TlsOptions { engine, ..lean }] {
            let by = if tls.engine.is_empty() { "the lean client" } else { "the engine" };
            let outcome = load(server.address(), tls, &[Kind::Ticket]);
            assert_eq!(outcome.errors(), Default::default(), "{version}, {by}");
            assert_eq!(outcome.refused(), 0, "{version}, {by}");
            assert_eq!(outcome.completed(Kind::Full), outcome.primed(), "{version}, {by}");
            assert!(outcome.completed(Kind::Ticket) >= COUNT / 2, "{version}, {by}");
        }
    }
}

#[test]
fn both_clients_reuse_tickets_on_request() {
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    // rustls forgets a stored session with its first use: what is offered again is refused.
    let config = EmbeddedConfig { resumption: Resumption::Id, ..EmbeddedConfig::new(identity) };
    let server = EmbeddedServer::start(config).unwrap();
    for reuse_tickets in [false, true] {
        let lean = TlsOptions { reuse_tickets, ..TlsOptions::new(Version::Tls13) };
        let engine = engine_configs(&lean, "localhost", &CertificatePolicy::AcceptAnyChain, None).unwrap();
        for tls in [lean.clone(), TlsOptions { engine, ..lean }] {
            let by = if tls.engine.is_empty() { "the lean client" } else { "the engine" };
            // One connection after the other, and more of them than either holds tickets: what goes in turns comes round again.
            let options = Options {
                tls: Arc::new(tls),
                arrival: Arrival::Closed { connections: 1 },
                end: LoadEnd::Count(200),
                mix: vec![(Kind::Ticket, 1)],
                sessions: 2,
                ..Options::new(server.address(), b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec())
            };
            let outcome = run(&options, &|| false, &Silent).unwrap();
            assert_eq!(outcome.errors(), Default::default(), "{by}");
            assert!(outcome.completed(Kind::Ticket) > 0, "{by}");
            assert_eq!(outcome.refused() > 0, reuse_tickets, "{by}: {}", outcome.refused());
        }
    }
}

#[test]
fn a_server_that_wants_another_group_is_given_it_from_then_on() {
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let groups = vec![reprise_lab::NamedGroup::secp384r1];
    let server = EmbeddedServer::start(EmbeddedConfig { groups, ..EmbeddedConfig::new(identity) }).unwrap();
    for key_shares in MODES {
        let outcome = load(server.address(), TlsOptions { key_shares, ..TlsOptions::new(Version::Tls13) }, &[Kind::Full]);
        // Those that began together with the first are told as well.
        let retries = outcome.errors()["hello_retry_request"];
        assert!((1..=3).contains(&retries), "{:?}", outcome.errors());
        assert_eq!(outcome.completed(Kind::Full), COUNT - retries, "{key_shares:?}: {:?}", outcome.errors());
    }
}

#[test]
fn who_asks_for_a_certificate_is_told_that_there_is_none() {
    reprise_servers::require!("nginx");
    let authority = Authority::new().unwrap();
    for (version, versions) in [(Version::Tls12, Versions::Tls12), (Version::Tls13, Versions::Tls13)] {
        let client_verify = ClientVerify::Optional(authority.pem());
        let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
        let mut nginx = Nginx::start(NginxConfig { client_verify, versions, ..NginxConfig::new(vec![identity]) }).unwrap();
        let outcome = load(nginx.address(), TlsOptions::new(version), &[Kind::Full]);
        assert_eq!(outcome.completed(Kind::Full), COUNT, "{version}: {:?}", outcome.errors());
        let accounts = nginx.accounts_when(COUNT as usize, Duration::from_secs(60)).unwrap();
        assert!(accounts.iter().all(|account| account.client_verify.as_deref() == Some("NONE")), "{accounts:?}");
    }
}

#[test]
fn certificates_are_verified_when_that_is_asked_for() {
    reprise_servers::require!("nginx");
    let (authority, stranger) = (Authority::new().unwrap(), Authority::new().unwrap());
    let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let mut nginx = Nginx::start(NginxConfig::new(vec![identity])).unwrap();
    for version in [Version::Tls12, Version::Tls13] {
        for key_shares in [KeyShareMode::Unit, KeyShareMode::Fresh] {
            for kind in [Kind::Full, Kind::Ticket] {
                let trusting = |root: &Authority| {
                    let tls = TlsOptions { key_shares, ..TlsOptions::new(version) };
                    let verifier = WebPkiVerifier::new(&[root.certificate().clone()]).0;
                    let policy = CertificatePolicy::Verify(Arc::new(verifier));
                    let engine = engine_configs(&tls, "localhost", &policy, None).unwrap();
                    TlsOptions { engine, ..tls }
                };
                let before = nginx.accounts().unwrap().len();
                let outcome = load(nginx.address(), trusting(&authority), &[kind]);
                assert_eq!(outcome.errors(), Default::default(), "{version} {key_shares:?} {kind}");
                let accounts =
                    nginx.accounts_when(before + COUNT as usize, Duration::from_secs(60)).unwrap().split_off(before);
                let resumed = accounts.iter().filter(|account| account.resumed).count() as u64;
                assert_eq!(outcome.completed(Kind::Ticket), resumed, "{version} {key_shares:?} {kind}");
                assert_eq!(resumed > 0, kind == Kind::Ticket, "{version} {key_shares:?} {kind}");

                let refused = load(nginx.address(), trusting(&stranger), &[kind]).errors();
                assert_eq!(refused.into_iter().collect::<Vec<_>>(), [("unknown_issuer".to_owned(), COUNT)]);
            }
        }
    }
}

/// RFC 5246 §7.2.2 in spirit: OpenSSL's cache forgets the session of a connection that was broken off.
#[test]
fn sessions_forgotten_after_a_reset_are_not_the_servers_alone() {
    reprise_servers::require!("haproxy");
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let server = HaProxy::start(HaProxyConfig::new(identity)).unwrap();
    let load = |close| {
        let options = Options {
            tls: Arc::new(TlsOptions::new(Version::Tls12)),
            arrival: Arrival::Closed { connections: 1 },
            end: LoadEnd::Count(20),
            mix: vec![(Kind::Id, 1)],
            sessions: 1,
            close,
            ..Options::new(server.address(), b"GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec())
        };
        let outcome = run(&options, &|| false, &Silent).unwrap();
        let document = outcome.document(&options, Target::default(), false, Provenance::default());
        assert_eq!(document.total_completed(), 20, "{:?}", document.errors);
        let notices = outcome.notices(&document, &options);
        (document, notices)
    };
    let (properly, _) = load(Close::Notify);
    assert_eq!((properly.completed[&Kind::Id], properly.refused), (19, 0));
    let (broken_off, notices) = load(Close::Rst);
    assert!(broken_off.refused > 0);
    let cause = Some(RefusalCause::ConnectionsReset);
    assert!(notices.contains(&LoadNotice::SessionsRefused(cause)), "{notices:?}");
}

#[test]
fn tickets_refused_on_reuse_name_the_flag_that_did_it() {
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let resumption = Resumption::RefusedTicket;
    let server = EmbeddedServer::start(EmbeddedConfig { resumption, ..EmbeddedConfig::new(identity) }).unwrap();
    for reuse_tickets in [true, false] {
        let options = Options {
            tls: Arc::new(TlsOptions { reuse_tickets, ..TlsOptions::new(Version::Tls13) }),
            arrival: Arrival::Closed { connections: 1 },
            end: LoadEnd::Count(8),
            mix: vec![(Kind::Ticket, 1)],
            sessions: 1,
            ..Options::new(server.address(), b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec())
        };
        let outcome = run(&options, &|| false, &Silent).unwrap();
        let document = outcome.document(&options, Target::default(), false, Provenance::default());
        assert!(document.refused > 0 && document.total_completed() == 8, "{:?}", document.errors);
        let cause = reuse_tickets.then_some(RefusalCause::TicketsReused);
        let notices = outcome.notices(&document, &options);
        assert!(notices.contains(&LoadNotice::SessionsRefused(cause)), "{notices:?}");
    }
}
