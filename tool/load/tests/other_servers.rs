//! Unit key shares against Go and rustls, post-quantum ones among them, and what a server may ask for besides.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::net::SocketAddr;
use std::sync::Arc;

use reprise_engine::{CertificatePolicy, WebPkiVerifier};
use reprise_harness::load::{OK_REQUEST, document, load, options, options_with};
use reprise_harness::{DEADLINE, Lab};
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec, Versions};
use reprise_load::{Arrival, Close, KeyShareMode, LoadEnd, LoadOptions, LoadOutcome, TlsOptions, WeightedName};
use reprise_model::{Kind, LoadNotice, RefusalCause, Version};
use reprise_servers::{ClientVerify, Go, GoConfig, GoProgram, HaProxy, HaProxyConfig, Nginx, NginxConfig, RealServer};
use reprise_wire::NamedGroup;
use rustls_pki_types::ServerName;

const COUNT: u64 = 12;

const MODES: [KeyShareMode; 3] = [KeyShareMode::Unit, KeyShareMode::Reused, KeyShareMode::Fresh];

/// A few connections of this kind at once.
fn loaded(address: SocketAddr, tls: TlsOptions, kind: Kind) -> LoadOutcome {
    load(&LoadOptions {
        tls: Arc::new(tls),
        arrival: Arrival::Closed { connections: 3 },
        end: LoadEnd::Count(COUNT),
        mix: vec![(kind, 1)],
        sessions: 2,
        ..options(address, Version::Tls13)
    })
}

fn offering(version: Version, group: NamedGroup, key_shares: KeyShareMode) -> TlsOptions {
    let mut groups = vec![group];
    // RFC 8422 §5.1: in TLS 1.2 the curve of the certificate's key must be among the groups.
    if version == Version::Tls12 && group != NamedGroup::SECP256R1 {
        groups.push(NamedGroup::SECP256R1);
    }
    TlsOptions { groups, key_shares, ..TlsOptions::new(version) }
}

/// Go with every group. A program without a module has the defaults of an old version, which lacks the hybrid one.
fn go(lab: &Lab) -> Go {
    let program = GoProgram::build_with(&[r#"os.Setenv("GODEBUG", "tlsmlkem=1")"#.to_owned()]).unwrap();
    Go::start(GoConfig::new(&program, lab.identity(KeyKind::P256))).unwrap()
}

/// rustls with the hybrid group alone, and tickets.
fn rustls(lab: &Lab) -> EmbeddedServer {
    lab.server_with(|config| {
        config.groups = vec![reprise_lab::NamedGroup::X25519MLKEM768];
        config.resumption = EmbeddedResumption::Ticket;
    })
}

fn localhost() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

/// Verifies chains to this root.
fn verifying(root: &Authority) -> CertificatePolicy {
    CertificatePolicy::Verify(Arc::new(WebPkiVerifier::new(&[root.certificate().clone()]).0))
}

#[test]
fn go_accepts_unit_shares_of_every_group() {
    reprise_servers::require!("go");
    let server = go(&Lab::new());
    let curves = [NamedGroup::X25519, NamedGroup::SECP256R1, NamedGroup::SECP384R1];
    let tls13 = curves.into_iter().chain([NamedGroup::X25519MLKEM768]).map(|group| (Version::Tls13, group));
    for (version, group) in tls13.chain(curves.map(|group| (Version::Tls12, group))) {
        for key_shares in MODES {
            let outcome = loaded(server.address(), offering(version, group, key_shares), Kind::Full);
            assert_eq!(outcome.completed(Kind::Full), COUNT, "{version} {group} {key_shares:?}: {:?}", outcome.errors());
        }
        let outcome = loaded(server.address(), offering(version, group, KeyShareMode::Unit), Kind::Ticket);
        assert!(outcome.completed(Kind::Ticket) >= COUNT - 6, "{version} {group} resumed: {:?}", outcome.errors());
    }
}

#[test]
fn go_and_rustls_accept_verified_hybrid_shares() {
    reprise_servers::require!("go");
    let lab = Lab::new();
    let (rustls, go) = (rustls(&lab), go(&lab));
    let policy = verifying(&lab.authority);
    for address in [go.address(), rustls.address()] {
        for key_shares in MODES {
            for kind in [Kind::Full, Kind::Ticket] {
                let tls = offering(Version::Tls13, NamedGroup::X25519MLKEM768, key_shares);
                let tls = TlsOptions { certificates: policy.clone(), host: localhost(), ..tls };
                let outcome = loaded(address, tls, kind);
                let completed = outcome.completed(Kind::Full) + outcome.completed(Kind::Ticket);
                assert_eq!(completed, COUNT, "{address} {key_shares:?} {kind}: {:?}", outcome.errors());
                assert_eq!(outcome.completed(Kind::Ticket) > 0, kind == Kind::Ticket, "{address} {key_shares:?}");
            }
        }
    }
}

/// rustls keeps the sessions of its names apart (RFC 6066 §3, RFC 9846 §4.7.1).
#[test]
fn a_session_is_offered_under_the_name_that_it_was_made_for() {
    let authority = Authority::new().unwrap();
    let name = |name: &str, weight| WeightedName { name: Some(name.to_owned()), weight };
    let names = vec![name("a.localhost", 3), name("b.localhost", 1)];
    for (version, versions) in [(Version::Tls12, Versions::Tls12), (Version::Tls13, Versions::Tls13)] {
        let spec = ServerSpec {
            names: names.iter().filter_map(|name| name.name.clone()).collect(),
            ..ServerSpec::new(KeyKind::P256)
        };
        let identity = authority.server(&spec).unwrap();
        let config = EmbeddedConfig { versions, resumption: EmbeddedResumption::Ticket, ..EmbeddedConfig::new(identity) };
        let server = EmbeddedServer::start(config).unwrap();
        let (certificates, server_names) = (verifying(&authority), names.clone());
        let tls = TlsOptions { server_names, certificates, ..TlsOptions::new(version) };
        let outcome = loaded(server.address(), tls, Kind::Ticket);
        assert_eq!(outcome.errors(), Default::default(), "{version}");
        assert_eq!(outcome.refused(), 0, "{version}");
        assert_eq!(outcome.completed(Kind::Full), outcome.primed(), "{version}");
        assert!(outcome.completed(Kind::Ticket) >= COUNT / 2, "{version}");
    }
}

#[test]
fn tickets_are_used_once_unless_told_otherwise() {
    // rustls forgets a stored session with its first use: what is offered again is refused.
    let server = Lab::new().server(EmbeddedResumption::Id);
    for reuse_tickets in [false, true] {
        // One connection after the other, and more of them than tickets are held: what goes in turns comes round again.
        let outcome = load(&LoadOptions {
            tls: Arc::new(TlsOptions { reuse_tickets, ..TlsOptions::new(Version::Tls13) }),
            end: LoadEnd::Count(200),
            mix: vec![(Kind::Ticket, 1)],
            sessions: 2,
            ..options(server.address(), Version::Tls13)
        });
        assert_eq!(outcome.errors(), Default::default());
        assert!(outcome.completed(Kind::Ticket) > 0);
        assert_eq!(outcome.refused() > 0, reuse_tickets, "{}", outcome.refused());
    }
}

#[test]
fn a_server_that_wants_another_group_is_given_it_from_then_on() {
    let server = Lab::new().server_with(|config| config.groups = vec![reprise_lab::NamedGroup::secp384r1]);
    for key_shares in MODES {
        let outcome = loaded(server.address(), TlsOptions { key_shares, ..TlsOptions::new(Version::Tls13) }, Kind::Full);
        // Those that began together with the first are told as well.
        let retries = outcome.errors()["hello_retry_request"];
        assert!((1..=3).contains(&retries), "{:?}", outcome.errors());
        assert_eq!(outcome.completed(Kind::Full), COUNT - retries, "{key_shares:?}: {:?}", outcome.errors());
    }
}

#[test]
fn who_asks_for_a_certificate_is_told_that_there_is_none() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    for (version, versions) in [(Version::Tls12, Versions::Tls12), (Version::Tls13, Versions::Tls13)] {
        let client_verify = ClientVerify::Optional(lab.authority.pem());
        let identity = lab.identity(KeyKind::P256);
        let mut nginx = Nginx::start(NginxConfig { client_verify, versions, ..NginxConfig::new(vec![identity]) }).unwrap();
        let outcome = loaded(nginx.address(), TlsOptions::new(version), Kind::Full);
        assert_eq!(outcome.completed(Kind::Full), COUNT, "{version}: {:?}", outcome.errors());
        let accounts = nginx.accounts_when(COUNT as usize, DEADLINE).unwrap();
        assert!(accounts.iter().all(|account| account.client_verify.as_deref() == Some("NONE")), "{accounts:?}");
    }
}

#[test]
fn certificates_are_verified_when_that_is_asked_for() {
    reprise_servers::require!("nginx");
    let (lab, stranger) = (Lab::new(), Authority::new().unwrap());
    let mut nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    for version in [Version::Tls12, Version::Tls13] {
        for key_shares in [KeyShareMode::Unit, KeyShareMode::Fresh] {
            for kind in [Kind::Full, Kind::Ticket] {
                let trusting = |root: &Authority| TlsOptions {
                    key_shares,
                    certificates: verifying(root),
                    host: localhost(),
                    ..TlsOptions::new(version)
                };
                let before = nginx.accounts().unwrap().len();
                let outcome = loaded(nginx.address(), trusting(&lab.authority), kind);
                assert_eq!(outcome.errors(), Default::default(), "{version} {key_shares:?} {kind}");
                let accounts = nginx.accounts_when(before + COUNT as usize, DEADLINE).unwrap().split_off(before);
                let resumed = accounts.iter().filter(|account| account.resumed).count() as u64;
                assert_eq!(outcome.completed(Kind::Ticket), resumed, "{version} {key_shares:?} {kind}");
                assert_eq!(resumed > 0, kind == Kind::Ticket, "{version} {key_shares:?} {kind}");

                let refused = loaded(nginx.address(), trusting(&stranger), kind).errors();
                assert_eq!(refused.into_iter().collect::<Vec<_>>(), [("unknown_issuer".to_owned(), COUNT)]);
            }
        }
    }
}

/// RFC 5246 §7.2.2 in spirit: OpenSSL's cache forgets the session of a connection that was broken off.
#[test]
fn sessions_forgotten_after_a_reset_are_not_the_servers_alone() {
    reprise_servers::require!("haproxy");
    let server = HaProxy::start(HaProxyConfig::new(Lab::new().identity(KeyKind::P256))).unwrap();
    let loaded = |close| {
        let options = LoadOptions {
            end: LoadEnd::Count(20),
            mix: vec![(Kind::Id, 1)],
            sessions: 1,
            close,
            ..options_with(OK_REQUEST, server.address(), Version::Tls12)
        };
        let outcome = load(&options);
        let document = document(&outcome, &options);
        assert_eq!(document.total_completed(), 20, "{:?}", document.errors);
        let notices = outcome.notices(&document, &options);
        (document, notices)
    };
    let (properly, _) = loaded(Close::Notify);
    assert_eq!((properly.completed[&Kind::Id], properly.refused), (19, 0));
    let (broken_off, notices) = loaded(Close::Rst);
    assert!(broken_off.refused > 0);
    let cause = Some(RefusalCause::ConnectionsReset);
    assert!(notices.contains(&LoadNotice::SessionsRefused(cause)), "{notices:?}");
}

#[test]
fn tickets_refused_on_reuse_name_the_flag_that_did_it() {
    let server = Lab::new().server(EmbeddedResumption::RefusedTicket);
    for reuse_tickets in [true, false] {
        let options = LoadOptions {
            tls: Arc::new(TlsOptions { reuse_tickets, ..TlsOptions::new(Version::Tls13) }),
            end: LoadEnd::Count(8),
            mix: vec![(Kind::Ticket, 1)],
            sessions: 1,
            ..options(server.address(), Version::Tls13)
        };
        let outcome = load(&options);
        let document = document(&outcome, &options);
        assert!(document.refused > 0 && document.total_completed() == 8, "{:?}", document.errors);
        let cause = reuse_tickets.then_some(RefusalCause::TicketsReused);
        let notices = outcome.notices(&document, &options);
        assert!(notices.contains(&LoadNotice::SessionsRefused(cause)), "{notices:?}");
    }
}
