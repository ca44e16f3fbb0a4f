//! The drivers of real servers, each server held against two clients that keep their own account.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use reprise_harness::client::{Client, s_client};
use reprise_harness::{DEADLINE, Lab};
use reprise_lab::{KeyKind, ServerSpec, Versions};
use reprise_servers::{Account, ClientVerify, Nginx, NginxConfig, RealServer, SServer, SServerConfig, SessionCache};

const VERSIONS: [(Versions, &str, &str); 2] =
    [(Versions::Tls12, "TLSv1.2", "-tls1_2"), (Versions::Tls13, "TLSv1.3", "-tls1_3")];

/// Connects twice by `openssl s_client`, the second time with the session of the first if there was one.
fn s_client_twice(lab: &Lab, address: SocketAddr, version: &str) -> [bool; 2] {
    let session = lab.path("session.pem");
    let _ = std::fs::remove_file(&session);
    let name = session.to_str().unwrap();
    let first = s_client(address, &lab.ca(), &[version, "-sess_out", name]);
    let offer: &[&str] = if session.exists() { &["-sess_in", name] } else { &[] };
    [first, s_client(address, &lab.ca(), &[&[version], offer].concat())]
}

fn account_of(accounts: &[Account], port: u16) -> &Account {
    let ours: Vec<&Account> = accounts.iter().filter(|account| account.client_port == port).collect();
    assert_eq!(ours.len(), 1, "one account for port {port} in {accounts:?}");
    ours[0]
}

#[test]
fn nginx_resumes_as_configured_and_all_three_agree() {
    reprise_servers::require!("nginx", "openssl");
    let lab = Lab::new();
    for key in [KeyKind::Rsa2048, KeyKind::P256] {
        let identity = lab.identity(key);
        for (session_tickets, session_cache, resumes) in [
            (false, SessionCache::Off, false),
            (false, SessionCache::Shared("10m".to_owned()), true),
            (true, SessionCache::Off, true),
        ] {
            for (versions, name, flag) in VERSIONS {
                let case = format!("{key} tickets {session_tickets} cache {session_cache:?} {name}");
                let config = NginxConfig {
                    session_tickets,
                    session_cache: session_cache.clone(),
                    ..NginxConfig::new(vec![identity.clone()])
                };
                let mut nginx = Nginx::start(config).unwrap();
                let client = Client::new(&lab.authority, versions);
                let fetched: Vec<_> = (0..3).map(|_| client.fetch(nginx.address(), "/").unwrap()).collect();
                let resumed: Vec<bool> = fetched.iter().map(|fetched| fetched.resumed).collect();
                assert_eq!(resumed, [false, resumes, resumes], "{case}");
                let accounts = nginx.accounts_when(3, DEADLINE).unwrap();
                for fetched in &fetched {
                    let account = account_of(&accounts, fetched.port);
                    assert_eq!((account.resumed, account.version.as_str()), (fetched.resumed, name), "{case}");
                    assert_eq!(account.client_verify.as_deref(), Some("NONE"), "{case}");
                }

                assert_eq!(s_client_twice(&lab, nginx.address(), flag), [false, resumes], "{case}");
                let accounts = nginx.accounts_when(5, DEADLINE).unwrap();
                let witness: Vec<bool> = accounts.iter().skip(3).map(|account| account.resumed).collect();
                assert_eq!(witness, [false, resumes], "{case}");
            }
        }
    }
}

#[test]
fn nginx_counts_a_kept_connection_once() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let client = Client::new(&lab.authority, Versions::Tls13);
    let one = "GET /1k HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let last = "GET /64k HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let fetched = client.exchange(nginx.address(), &[one, one, last].concat()).unwrap();
    assert!(fetched.response.len() > 2 * 1024 + 65_536);
    let other = client.exchange(nginx.address(), &last.replace("GET /64k", "POST /ok")).unwrap();
    assert!(other.response.ends_with("ok\n"));
    let accounts = nginx.accounts_when(2, DEADLINE).unwrap();
    assert_eq!(accounts.len(), 2);
    assert!(!account_of(&accounts, fetched.port).resumed && account_of(&accounts, other.port).resumed);
}

#[test]
fn nginx_answers_with_the_statuses_it_is_asked_for() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let client = Client::new(&lab.authority, Versions::Tls13);
    for status in [204, 301, 404, 500, 503] {
        let response = client.fetch(nginx.address(), &format!("/status/{status}")).unwrap().response;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
    }
}

#[test]
fn nginx_chooses_the_certificate_that_the_client_can_verify() {
    reprise_servers::require!("nginx", "openssl");
    let lab = Lab::new();
    let identities = vec![lab.identity(KeyKind::Rsa2048), lab.identity(KeyKind::P256)];
    let mut nginx = Nginx::start(NginxConfig { versions: Versions::Tls12, ..NginxConfig::new(identities) }).unwrap();
    for (suite, times) in [("ECDHE-RSA-AES128-GCM-SHA256", 1), ("ECDHE-ECDSA-AES128-GCM-SHA256", 2)] {
        assert!(!s_client(nginx.address(), &lab.ca(), &["-tls1_2", "-cipher", suite]));
        let accounts = nginx.accounts_when(times, DEADLINE).unwrap();
        assert_eq!(accounts.last().unwrap().cipher.as_deref(), Some(suite));
    }
}

#[test]
fn nginx_verifies_clients() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let known = lab.authority.client("someone.example").unwrap();
    for (required, stranger_verdict) in [(false, "HTTP/1.1 200 "), (true, "HTTP/1.1 400 ")] {
        let verify = if required { ClientVerify::Required } else { ClientVerify::Optional };
        let config = NginxConfig { client_verify: verify(lab.authority.pem()), ..NginxConfig::new(vec![identity.clone()]) };
        let mut nginx = Nginx::start(config).unwrap();
        let known = Client::with_identity(&lab.authority, Versions::Tls13, &known).fetch(nginx.address(), "/").unwrap();
        let stranger = Client::new(&lab.authority, Versions::Tls13).fetch(nginx.address(), "/").unwrap();
        assert!(known.response.starts_with("HTTP/1.1 200 "));
        assert!(stranger.response.starts_with(stranger_verdict), "{}", stranger.response);
        let accounts = nginx.accounts_when(2, DEADLINE).unwrap();
        assert_eq!(account_of(&accounts, known.port).client_verify.as_deref(), Some("SUCCESS"));
        assert_eq!(account_of(&accounts, stranger.port).client_verify.as_deref(), Some("NONE"));
    }
}

#[test]
fn nginx_takes_early_data() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let config = NginxConfig { early_data: true, ..NginxConfig::new(vec![lab.identity(KeyKind::P256)]) };
    let mut nginx = Nginx::start(config).unwrap();
    let client = Client::build(&lab.authority, Versions::Tls13, None, |config| config.enable_early_data = true);
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let ports: Vec<u16> = (0..20)
        .map(|_| {
            // A ticket for each: a connection that nginx closes before the client's Finished brings none.
            client.fetch(nginx.address(), "/").unwrap();
            let (port, response) = client.exchange_early(nginx.address(), request);
            assert!(response.starts_with("HTTP/1.1 200 "));
            port
        })
        .collect();
    let accounts = nginx.accounts_when(40, DEADLINE).unwrap();
    assert!(ports.iter().all(|&port| account_of(&accounts, port).resumed));
    // nginx cannot tell of every single one.
    assert!(ports.iter().any(|&port| account_of(&accounts, port).early_data == Some(true)));
}

#[test]
fn nginx_tells_why_it_did_not_start() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let server_directives = "no_such_directive on;".to_owned();
    let config = NginxConfig { server_directives, ..NginxConfig::new(vec![lab.identity(KeyKind::P256)]) };
    let error = Nginx::start(config).unwrap_err();
    assert!(matches!(error, reprise_servers::ServerError::Died { .. }), "{error}");
    assert!(error.to_string().contains("no_such_directive"), "{error}");
}

#[test]
fn nginx_leaves_nothing_behind() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nginx = Nginx::start(NginxConfig { workers: 2, ..NginxConfig::new(vec![lab.identity(KeyKind::P256)]) }).unwrap();
    let (address, pid) = (nginx.address(), nginx.pid());
    drop(nginx);
    assert!(TcpStream::connect(address).is_err(), "no worker lives on");
    assert!(!PathBuf::from(format!("/proc/{pid}")).exists(), "reaped");
}

#[test]
fn connections_that_do_not_come_are_missed() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let error = nginx.accounts_when(1, Duration::ZERO).unwrap_err().to_string();
    assert_eq!(error, "nginx accounted for 0 connections of 1 within 0ns");
}

#[test]
fn s_server_resumes_as_configured_and_all_three_agree() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    for key in [KeyKind::Rsa2048, KeyKind::P256] {
        let identity = lab.identity(key);
        for (tickets, cache) in [(true, true), (false, true), (false, false)] {
            for (versions, name, flag) in VERSIONS {
                let case = format!("{key} tickets {tickets} cache {cache} {name}");
                let config = SServerConfig { tickets, cache, versions, ..SServerConfig::new(vec![identity.clone()]) };
                let mut server = SServer::start(config).unwrap();
                let client = Client::new(&lab.authority, versions);
                for (turn, expected) in [false, tickets || cache].into_iter().enumerate() {
                    let fetched = client.fetch(server.address(), "/").unwrap();
                    let page = SServer::account_of_page(fetched.port, &fetched.response).unwrap();
                    assert_eq!((page.resumed, page.version.as_str()), (fetched.resumed, name), "{case}");
                    assert_eq!(fetched.resumed, expected, "{case}");
                    let accounts = server.accounts_when(turn + 1, DEADLINE).unwrap();
                    let account = account_of(&accounts, fetched.port);
                    assert_eq!((account.resumed, account.version.as_str()), (expected, name), "{case}");
                }
                assert_eq!(s_client_twice(&lab, server.address(), flag), [false, tickets || cache], "{case}");
            }
        }
    }
}

#[test]
fn s_server_serves_what_nginx_cannot() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let spec = ServerSpec { intermediates: 2, ..ServerSpec::new(KeyKind::Rsa2048) };
    let config = SServerConfig {
        ciphers: Some("AES128-GCM-SHA256".to_owned()),
        versions: Versions::Tls12,
        ..SServerConfig::new(vec![lab.authority.server(&spec).unwrap(), lab.identity(KeyKind::P256)])
    };
    let mut server = SServer::start(config).unwrap();
    assert!(!s_client(server.address(), &lab.ca(), &["-tls1_2"]), "RSA key exchange, with a chain");
    assert_eq!(server.accounts_when(1, DEADLINE).unwrap().len(), 1);

    let key = "0123456789abcdef0123456789abcdef";
    let psk = Some(("someone".to_owned(), key.to_owned()));
    let config = SServerConfig { psk, versions: Versions::Tls13, ..SServerConfig::new(Vec::new()) };
    let mut server = SServer::start(config).unwrap();
    let arguments = ["-tls1_3", "-psk_identity", "someone", "-psk", key];
    assert!(s_client(server.address(), &lab.ca(), &arguments), "an external PSK");
    assert!(server.accounts_when(1, DEADLINE).unwrap()[0].resumed);
}

#[test]
fn rsa_1024_is_served_to_whoever_insists() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let identity = reprise_lab::rsa_1024_server().unwrap();
    assert_eq!((identity.label(), identity.chain().len()), ("rsa-1024", 1));
    let files = identity.write_pem(lab.directory(), "weak").unwrap();
    let weak = "ALL:@SECLEVEL=0";
    let config = SServerConfig { ciphers: Some(weak.to_owned()), ..SServerConfig::new(vec![identity]) };
    let mut server = SServer::start(config).unwrap();
    assert!(!s_client(server.address(), &files.certificate, &["-cipher", weak]));
    assert_eq!(server.accounts_when(1, DEADLINE).unwrap().len(), 1);
}

#[test]
fn s_server_verifies_clients() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let config = SServerConfig {
        client_verify: ClientVerify::Required(lab.authority.pem()),
        ..SServerConfig::new(vec![lab.identity(KeyKind::P256)])
    };
    let mut server = SServer::start(config).unwrap();
    assert!(Client::new(&lab.authority, Versions::Tls13).fetch(server.address(), "/").is_err());
    let known = lab.authority.client("someone.example").unwrap();
    let fetched = Client::with_identity(&lab.authority, Versions::Tls13, &known).fetch(server.address(), "/").unwrap();
    let accounts = server.accounts_when(1, DEADLINE).unwrap();
    assert_eq!(account_of(&accounts, fetched.port).version, "TLSv1.3");
}

#[test]
fn a_program_that_is_not_installed_is_named() {
    assert_eq!(reprise_servers::missing("sh"), None);
    let not_run = reprise_servers::missing("no-such-server").unwrap();
    assert_eq!(not_run.to_string(), "NOT RUN: needs no-such-server");
}

/// What an ignored test of this file prints in such an environment, in which it passes or fails as said.
#[track_caller]
fn said_by(test: &str, variables: &[(&str, &str)], passes: bool) -> String {
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", test, "--ignored", "--nocapture"]).envs(variables.iter().copied());
    let output = program.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.success(), passes, "{said}");
    said
}

#[test]
#[ignore = "run by the test below"]
fn a_test_that_needs_what_nobody_has() {
    reprise_servers::require!("sh", "no-such-server");
    unreachable!("there is no such server");
}

#[test]
fn a_missing_program_fails_only_where_servers_are_required() {
    for (value, passes) in [("0", true), ("1", false)] {
        let said = said_by("a_test_that_needs_what_nobody_has", &[("REPRISE_REQUIRE_SERVERS", value)], passes);
        assert!(said.contains("NOT RUN: needs no-such-server"), "{said}");
    }
}

#[test]
#[ignore = "run by the test below"]
fn a_test_that_needs_a_network_of_its_own() {
    assert!(reprise_servers::own_network().is_none());
}

#[test]
fn a_refused_namespace_fails_where_servers_are_required() {
    let directory = tempfile::tempdir().unwrap();
    let unshare = directory.path().join("unshare");
    std::fs::write(&unshare, "#!/bin/sh\necho 'Operation not permitted' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&unshare, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
    for (required, by_design, passes) in [("0", "0", true), ("1", "0", false), ("1", "1", true)] {
        let variables = [("PATH", &*path), ("REPRISE_REQUIRE_SERVERS", required), ("REPRISE_WITHOUT_NAMESPACES", by_design)];
        let said = said_by("a_test_that_needs_a_network_of_its_own", &variables, passes);
        assert!(said.contains("NOT RUN: needs a network of its own (Operation not permitted)"), "{said}");
    }
}
