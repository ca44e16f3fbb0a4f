//! HAProxy, Apache, gnutls-serv, Go, Node and Java, each held against a rustls client that keeps its own account.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use reprise_harness::client::Client;
use reprise_harness::{DEADLINE, Lab};
use reprise_lab::{Authority, Identity, KeyKind, Versions};
use reprise_servers::{
    Apache, ApacheConfig, GnutlsServ, GnutlsServConfig, Go, GoConfig, GoProgram, HaProxy, HaProxyConfig, Java, JavaConfig,
    NodeConfig, NodeJs, RealServer,
};

const VERSIONS: [(Versions, &str); 2] = [(Versions::Tls12, "TLSv1.2"), (Versions::Tls13, "TLSv1.3")];

/// Under an RSA key and under an ECDSA key.
fn with_each_key(test: impl Fn(&Authority, Identity, KeyKind)) {
    let lab = Lab::new();
    [KeyKind::Rsa2048, KeyKind::P256].into_iter().for_each(|key| test(&lab.authority, lab.identity(key), key));
}

/// Three connections, whose accounts must agree and must resume as said from the second on.
fn agrees(server: &mut dyn RealServer, authority: &Authority, versions: Versions, name: &str, resumes: bool, case: &str) {
    let before = server.accounts().unwrap().len();
    let client = Client::new(authority, versions);
    let fetched: Vec<_> = (0..3).map(|_| client.fetch(server.address(), "/").unwrap()).collect();
    assert!(fetched.iter().all(|fetched| fetched.response.get(8..13) == Some(" 200 ")), "{case}");
    let resumed: Vec<bool> = fetched.iter().map(|fetched| fetched.resumed).collect();
    assert_eq!(resumed, [false, resumes, resumes], "{case}");
    let accounts = server.accounts_when(before + 3, DEADLINE).unwrap();
    assert_eq!(accounts.len(), before + 3, "{case}");
    for fetched in &fetched {
        // Not in order: each thread of a server writes when it comes to it.
        let account = accounts.iter().find(|account| account.client_port == fetched.port).unwrap();
        assert_eq!((account.resumed, account.version.as_str()), (fetched.resumed, name), "{case}");
    }
}

/// Both versions in turn, on a server that resumes as said under TLS 1.2 and under TLS 1.3.
fn agrees_under_both(server: &mut dyn RealServer, authority: &Authority, resumes: [bool; 2], case: &str) {
    for ((versions, name), resumes) in VERSIONS.into_iter().zip(resumes) {
        agrees(server, authority, versions, name, resumes, &format!("{case} {name}"));
    }
}

#[test]
fn haproxy_resumes_as_configured() {
    reprise_servers::require!("haproxy");
    with_each_key(|authority, identity, key| {
        for (session_tickets, cache_size) in [(false, 0), (false, 20_000), (true, 0)] {
            for (versions, name) in VERSIONS {
                let config = HaProxyConfig { session_tickets, cache_size, versions, ..HaProxyConfig::new(identity.clone()) };
                let mut server = HaProxy::start(config).unwrap();
                let resumes = session_tickets || cache_size > 0;
                let case = format!("{key} tickets {session_tickets} cache {cache_size} {name}");
                agrees(&mut server, authority, versions, name, resumes, &case);
            }
        }
    });
}

#[test]
fn apache_resumes_as_configured() {
    reprise_servers::require!("apache2");
    with_each_key(|authority, identity, key| {
        for (session_tickets, session_cache) in [(false, false), (false, true), (true, false)] {
            for (versions, name) in VERSIONS {
                let config =
                    ApacheConfig { session_tickets, session_cache, versions, ..ApacheConfig::new(identity.clone()) };
                let mut server = Apache::start(config).unwrap();
                let resumes = session_tickets || session_cache;
                let case = format!("{key} tickets {session_tickets} cache {session_cache} {name}");
                agrees(&mut server, authority, versions, name, resumes, &case);
            }
        }
    });
}

/// Whether tickets are on, whether sessions are stored, and whether such a server resumes under TLS 1.2 and under TLS 1.3:
/// stored sessions are those of TLS 1.2.
const TICKETS_AND_STORE: [(bool, bool, [bool; 2]); 3] =
    [(false, false, [false, false]), (false, true, [true, false]), (true, false, [true, true])];

#[test]
fn gnutls_serv_resumes_as_configured() {
    reprise_servers::require!("gnutls-serv");
    with_each_key(|authority, identity, key| {
        for (session_tickets, session_database, resumes) in TICKETS_AND_STORE {
            let config = GnutlsServConfig { session_tickets, session_database, ..GnutlsServConfig::new(identity.clone()) };
            let mut server = GnutlsServ::start(config).unwrap();
            let case = format!("{key} tickets {session_tickets} database {session_database}");
            agrees_under_both(&mut server, authority, resumes, &case);
        }
    });
}

#[test]
fn go_resumes_as_configured() {
    reprise_servers::require!("go");
    let program = GoProgram::build().unwrap();
    with_each_key(|authority, identity, key| {
        for session_tickets in [false, true] {
            let config = GoConfig { session_tickets, ..GoConfig::new(identity.clone()) };
            let mut server = Go::start(&program, config).unwrap();
            agrees_under_both(&mut server, authority, [session_tickets; 2], &format!("{key} tickets {session_tickets}"));
        }
    });
}

#[test]
fn node_resumes_as_configured() {
    reprise_servers::require!("node");
    with_each_key(|authority, identity, key| {
        for (session_tickets, session_store, resumes) in TICKETS_AND_STORE {
            let config = NodeConfig { session_tickets, session_store, ..NodeConfig::new(identity.clone()) };
            let mut server = NodeJs::start(config).unwrap();
            let case = format!("{key} tickets {session_tickets} store {session_store}");
            agrees_under_both(&mut server, authority, resumes, &case);
        }
    });
}

#[test]
fn java_resumes_as_configured() {
    reprise_servers::require!("java", "javac");
    let lab = Lab::new();
    for (key, session_tickets, session_cache, resumes) in
        [(KeyKind::Rsa2048, false, false, false), (KeyKind::P256, false, true, true), (KeyKind::P256, true, false, true)]
    {
        let config = JavaConfig { session_tickets, session_cache, ..JavaConfig::new(lab.identity(key)) };
        let mut server = Java::start(config).unwrap();
        let case = format!("{key} tickets {session_tickets} cache {session_cache}");
        agrees_under_both(&mut server, &lab.authority, [resumes; 2], &case);
    }
}
