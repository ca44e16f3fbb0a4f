//! HAProxy and Apache, each held against a rustls client that keeps its own account.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

mod client;

use std::time::Duration;

use client::Client;
use reprise_lab::servers::{Apache, ApacheConfig, HaProxy, HaProxyConfig, RealServer};
use reprise_lab::{Authority, KeyKind, ServerSpec, Versions};

const DEADLINE: Duration = Duration::from_secs(20);
const VERSIONS: [(Versions, &str); 2] = [(Versions::Tls12, "TLSv1.2"), (Versions::Tls13, "TLSv1.3")];

/// Three connections, whose accounts must agree and must resume as said from the second on.
fn agrees(server: &mut dyn RealServer, authority: &Authority, versions: Versions, name: &str, resumes: bool, case: &str) {
    let client = Client::new(authority, versions);
    let fetched: Vec<_> = (0..3).map(|_| client.fetch(server.address(), "/").unwrap()).collect();
    assert!(fetched.iter().all(|fetched| fetched.response.starts_with("HTTP/1.1 200 ")), "{case}");
    let resumed: Vec<bool> = fetched.iter().map(|fetched| fetched.resumed).collect();
    assert_eq!(resumed, [false, resumes, resumes], "{case}");
    let accounts = server.accounts_when(3, DEADLINE).unwrap();
    assert_eq!(accounts.len(), 3, "{case}");
    for fetched in &fetched {
        // Not in order: each thread of a server writes when it comes to it.
        let account = accounts.iter().find(|account| account.client_port == fetched.port).unwrap();
        assert_eq!((account.resumed, account.version.as_str()), (fetched.resumed, name), "{case}");
    }
}

#[test]
fn haproxy_resumes_as_configured() {
    reprise_lab::require!("haproxy");
    let authority = Authority::new().unwrap();
    for key in [KeyKind::Rsa2048, KeyKind::P256] {
        let identity = authority.server(&ServerSpec::new(key)).unwrap();
        for (session_tickets, cache_size) in [(false, 0), (false, 20_000), (true, 0)] {
            for (versions, name) in VERSIONS {
                let config = HaProxyConfig { session_tickets, cache_size, versions, ..HaProxyConfig::new(identity.clone()) };
                let mut server = HaProxy::start(config).unwrap();
                let resumes = session_tickets || cache_size > 0;
                let case = format!("{key} tickets {session_tickets} cache {cache_size} {name}");
                agrees(&mut server, &authority, versions, name, resumes, &case);
            }
        }
    }
}

#[test]
fn apache_resumes_as_configured() {
    reprise_lab::require!("apache2");
    let authority = Authority::new().unwrap();
    for key in [KeyKind::Rsa2048, KeyKind::P256] {
        let identity = authority.server(&ServerSpec::new(key)).unwrap();
        for (session_tickets, session_cache) in [(false, false), (false, true), (true, false)] {
            for (versions, name) in VERSIONS {
                let config =
                    ApacheConfig { session_tickets, session_cache, versions, ..ApacheConfig::new(identity.clone()) };
                let mut server = Apache::start(config).unwrap();
                let resumes = session_tickets || session_cache;
                let case = format!("{key} tickets {session_tickets} cache {session_cache} {name}");
                agrees(&mut server, &authority, versions, name, resumes, &case);
            }
        }
    }
}
