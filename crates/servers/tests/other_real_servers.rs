//! HAProxy, Apache, gnutls-serv, Go, Node and Java, each held against a rustls client that keeps its own account. What each of them
//! does in every setting and under every key, `reprise measure` is held against: `crates/cli/tests/measure/every_server`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use reprise_harness::client::Client;
use reprise_harness::{DEADLINE, Lab};
use reprise_lab::{Identity, KeyKind, Versions};
use reprise_servers::{
    Apache, ApacheConfig, GnutlsServ, GnutlsServConfig, Go, GoConfig, GoProgram, HaProxy, HaProxyConfig, Java, JavaConfig,
    NodeConfig, NodeJs, RealServer, Result,
};

/// Starts a server; three connections of each version, whose accounts must agree, resume as said from the second on: under TLS 1.2
/// and under TLS 1.3.
fn agrees<S: RealServer>(start: impl Fn(Identity, Versions) -> Result<S>, key: KeyKind, resumes: [bool; 2]) {
    let lab = Lab::new();
    for ((versions, name), resumes) in [(Versions::Tls12, "TLSv1.2"), (Versions::Tls13, "TLSv1.3")].into_iter().zip(resumes)
    {
        let mut server = start(lab.identity(key), versions).unwrap();
        let client = Client::new(&lab.authority, versions);
        let fetched: Vec<_> = (0..3).map(|_| client.fetch(server.address(), "/").unwrap()).collect();
        assert!(fetched.iter().all(|fetched| fetched.response.get(8..13) == Some(" 200 ")), "{name}");
        let resumed: Vec<bool> = fetched.iter().map(|fetched| fetched.resumed).collect();
        assert_eq!(resumed, [false, resumes, resumes], "{name}");
        let accounts = server.accounts_when(3, DEADLINE).unwrap();
        assert_eq!(accounts.len(), 3, "{name}");
        for fetched in &fetched {
            // Not in order: each thread of a server writes when it comes to it.
            let account = accounts.iter().find(|account| account.client_port == fetched.port).unwrap();
            assert_eq!((account.resumed, account.version.as_str()), (fetched.resumed, name));
        }
    }
}

#[test]
fn haproxy_resumes_as_configured() {
    reprise_servers::require!("haproxy");
    for (session_tickets, cache_size) in [(false, 0), (false, 20_000), (true, 0)] {
        let config = |identity| HaProxyConfig { session_tickets, cache_size, ..HaProxyConfig::new(identity) };
        let start = |identity, versions| HaProxy::start(HaProxyConfig { versions, ..config(identity) });
        agrees(start, KeyKind::Rsa2048, [session_tickets || cache_size > 0; 2]);
    }
}

#[test]
fn apache_resumes_as_configured() {
    reprise_servers::require!("apache2");
    for (session_tickets, session_cache) in [(false, false), (false, true), (true, false)] {
        let config = |identity| ApacheConfig { session_tickets, session_cache, ..ApacheConfig::new(identity) };
        let start = |identity, versions| Apache::start(ApacheConfig { versions, ..config(identity) });
        agrees(start, KeyKind::P256, [session_tickets || session_cache; 2]);
    }
}

/// Whether tickets are on, whether sessions are stored, and whether such a server resumes under TLS 1.2 and under TLS 1.3:
/// stored sessions are those of TLS 1.2.
const TICKETS_AND_STORE: [(bool, bool, [bool; 2]); 3] =
    [(false, false, [false, false]), (false, true, [true, false]), (true, false, [true, true])];

#[test]
fn gnutls_serv_resumes_as_configured() {
    reprise_servers::require!("gnutls-serv");
    for (session_tickets, session_database, resumes) in TICKETS_AND_STORE {
        let config = |identity| GnutlsServConfig { session_tickets, session_database, ..GnutlsServConfig::new(identity) };
        let start = |identity, versions| GnutlsServ::start(GnutlsServConfig { versions, ..config(identity) });
        agrees(start, KeyKind::Rsa2048, resumes);
    }
}

#[test]
fn go_resumes_as_configured() {
    reprise_servers::require!("go");
    let program = GoProgram::build().unwrap();
    for session_tickets in [false, true] {
        let start =
            |identity, versions| Go::start(GoConfig { session_tickets, versions, ..GoConfig::new(&program, identity) });
        agrees(start, KeyKind::P256, [session_tickets; 2]);
    }
}

#[test]
fn node_resumes_as_configured() {
    reprise_servers::require!("node");
    for (session_tickets, session_store, resumes) in TICKETS_AND_STORE {
        let config = |identity| NodeConfig { session_tickets, session_store, ..NodeConfig::new(identity) };
        let start = |identity, versions| NodeJs::start(NodeConfig { versions, ..config(identity) });
        agrees(start, KeyKind::P256, resumes);
    }
}

#[test]
fn java_resumes_as_configured() {
    reprise_servers::require!("java", "javac");
    for (session_tickets, session_cache) in [(false, false), (false, true), (true, false)] {
        let config = |identity| JavaConfig { session_tickets, session_cache, ..JavaConfig::new(identity) };
        let start = |identity, versions| Java::start(JavaConfig { versions, ..config(identity) });
        agrees(start, KeyKind::P256, [session_tickets || session_cache; 2]);
    }
}
