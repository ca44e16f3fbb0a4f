//! The embedded server, held against two clients that keep their own account.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::io::{Read, Write};
use std::net::{Ipv6Addr, TcpStream};
use std::thread;

use reprise_harness::client::{Client, s_client, s_client_output};
use reprise_lab::{
    Authority, ClientAuth, ConnectionAccount, EmbeddedConfig, EmbeddedServer, Identity, KeyKind, NamedGroup, Resumption,
    ServerApplication, ServerSpec, Turn, Versions,
};

const RESUMPTIONS: [(Resumption, bool); 4] =
    [(Resumption::Off, false), (Resumption::Id, true), (Resumption::Ticket, true), (Resumption::RefusedTicket, false)];

fn identity(authority: &Authority, key: KeyKind) -> Identity {
    authority.server(&ServerSpec::new(key)).unwrap()
}

fn start(authority: &Authority) -> EmbeddedServer {
    EmbeddedServer::start(EmbeddedConfig::new(identity(authority, KeyKind::P256))).unwrap()
}

fn account_of(server: &EmbeddedServer, port: u16) -> ConnectionAccount {
    server.accounts().into_iter().find(|account| account.peer_port == port).unwrap()
}

#[test]
fn rustls_client_and_witness_agree_on_resumption() {
    let authority = Authority::new().unwrap();
    for key in [KeyKind::Rsa2048, KeyKind::P256] {
        let identity = identity(&authority, key);
        for (resumption, resumes) in RESUMPTIONS {
            for (versions, name) in [(Versions::Tls12, "TLSv1.2"), (Versions::Tls13, "TLSv1.3")] {
                let config = EmbeddedConfig { resumption, versions, ..EmbeddedConfig::new(identity.clone()) };
                let server = EmbeddedServer::start(config).unwrap();
                let client = Client::new(&authority, versions);
                for turn in 0..4 {
                    let fetched = client.fetch(server.address(), "/").unwrap();
                    let case = format!("{key} {resumption:?} {name} connection {turn}");
                    assert!(fetched.response.starts_with("HTTP/1.1 200 OK\r\n"), "{case}");
                    assert_eq!(fetched.resumed, resumes && turn > 0, "{case}");
                    let account = account_of(&server, fetched.port);
                    assert_eq!(account.resumed, fetched.resumed, "{case}");
                    assert_eq!((account.version.as_str(), account.requests), (name, 1), "{case}");
                    assert_eq!(account.sni.as_deref(), Some("localhost"), "{case}");
                }
                assert_eq!(server.completed(), 4);
                assert_eq!(server.failures(), []);
            }
        }
    }
}

#[test]
fn a_dialogue_that_the_client_does_not_keep_to_is_noted() {
    let authority = Authority::new().unwrap();
    let application = ServerApplication::Dialogue(vec![Turn::Says(b"220 mail\r\n".to_vec()), Turn::Hears(b"EHLO".to_vec())]);
    let config = EmbeddedConfig { application, ..EmbeddedConfig::new(identity(&authority, KeyKind::P256)) };
    let server = EmbeddedServer::start(config).unwrap();
    let _ = Client::new(&authority, Versions::Tls13).fetch(server.address(), "/");
    assert_eq!((server.completed(), server.misheard()), (1, vec!["heard GET , not EHLO".to_owned()]));
}

#[test]
fn openssl_client_and_witness_agree_on_resumption() {
    reprise_servers::require!("openssl");
    let directory = tempfile::tempdir().unwrap();
    let (ca, session) = (directory.path().join("ca.pem"), directory.path().join("session.pem"));
    let session = session.to_str().unwrap();
    let authority = Authority::new().unwrap();
    std::fs::write(&ca, authority.pem()).unwrap();
    let identity = identity(&authority, KeyKind::P256);
    for (resumption, resumes) in RESUMPTIONS {
        for version in ["-tls1_2", "-tls1_3"] {
            let config = EmbeddedConfig { resumption, ..EmbeddedConfig::new(identity.clone()) };
            let server = EmbeddedServer::start(config).unwrap();
            let _ = std::fs::remove_file(session);
            assert!(!s_client(server.address(), &ca, &[version, "-sess_out", session]));
            // Without a session there is no file to offer.
            let offer: &[&str] = if std::path::Path::new(session).exists() { &["-sess_in", session] } else { &[] };
            let resumed = s_client(server.address(), &ca, &[&[version], offer].concat());
            let witness: Vec<bool> = server.accounts().iter().map(|account| account.resumed).collect();
            assert_eq!(resumed, resumes, "{resumption:?} {version}");
            assert_eq!(witness, [false, resumed], "{resumption:?} {version}");
        }
    }
}

#[test]
fn every_kind_of_key_serves_both_clients() {
    let authority = Authority::new().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let ca = directory.path().join("ca.pem");
    std::fs::write(&ca, authority.pem()).unwrap();
    for key in KeyKind::ALL {
        let server = EmbeddedServer::start(EmbeddedConfig::new(identity(&authority, key))).unwrap();
        for versions in [Versions::Tls12, Versions::Tls13] {
            let fetched = Client::new(&authority, versions).fetch(server.address(), "/").unwrap();
            assert!(fetched.response.ends_with("Reprise lab\n"), "{key} {versions:?}");
        }
        if reprise_servers::missing("openssl").is_none() {
            assert!(!s_client(server.address(), &ca, &["-verify_hostname", "localhost"]), "{key}");
        }
    }
}

#[test]
fn a_kept_connection_counts_its_requests() {
    let authority = Authority::new().unwrap();
    let server = start(&authority);
    let client = Client::new(&authority, Versions::Tls13);
    let requests = "GET /a HTTP/1.1\r\n\r\n\
                    HEAD /b?c HTTP/1.1\r\n\r\n\
                    POST /d HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello\
                    GET /e HTTP/1.1\r\nConnection: close\r\n\r\n";
    let fetched = client.exchange(server.address(), requests).unwrap();
    assert_eq!(fetched.response.matches("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n").count(), 4);
    assert_eq!(fetched.response.matches("Reprise lab\n").count(), 3, "HEAD has no body");
    assert_eq!(account_of(&server, fetched.port).requests, 4);
}

/// Until it is told that the connection is kept, it reads to the end of it.
#[test]
fn http10_is_told_whether_the_connection_is_kept() {
    let authority = Authority::new().unwrap();
    let server = start(&authority);
    let client = Client::new(&authority, Versions::Tls13);
    let kept = "GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";
    let fetched = client.exchange(server.address(), &format!("{kept}{kept}GET /chunked HTTP/1.0\r\n\r\n")).unwrap();
    let said = |connection| fetched.response.matches(connection).count();
    assert_eq!(said("Content-Length: 12\r\nConnection: keep-alive\r\n\r\n"), 2, "{}", fetched.response);
    assert_eq!(said("Content-Length: 12\r\nConnection: close\r\n\r\n"), 1, "{}", fetched.response);
    assert_eq!(account_of(&server, fetched.port).requests, 3);
}

#[test]
fn paths_choose_the_answer() {
    let authority = Authority::new().unwrap();
    let server = start(&authority);
    let client = Client::new(&authority, Versions::Tls13);
    let fetch = |path: &str| client.fetch(server.address(), path).unwrap().response;
    for status in [200, 301, 404, 500, 503, 599] {
        assert!(fetch(&format!("/status/{status}")).starts_with(&format!("HTTP/1.1 {status} ")));
    }
    assert!(fetch("/status/204").ends_with("Connection: close\r\n\r\n"));
    for bad in ["/status/100", "/status/600", "/status/x", "/bytes/-1", "/bytes/16777217"] {
        assert!(fetch(bad).starts_with("HTTP/1.1 400 "), "{bad}");
    }
    for bytes in [0, 1, 16_384, 16_385, 1_000_000] {
        let response = fetch(&format!("/bytes/{bytes}"));
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {bytes}\r\n")));
        assert_eq!(body.len(), bytes);
    }
    assert!(fetch("/chunked").ends_with("\r\n\r\n8\r\nReprise \r\n4\r\nlab\n\r\n0\r\n\r\n"));
}

#[test]
fn requests_that_cannot_be_served_are_refused() {
    let authority = Authority::new().unwrap();
    let server = start(&authority);
    let client = Client::new(&authority, Versions::Tls12);
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(100));
    for (request, status) in [
        ("\u{1}\u{2}\u{3}\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (&long, 431),
        (&many, 431),
        ("BREW /pot HTTP/1.0\r\n\r\n", 405),
    ] {
        let response = client.exchange(server.address(), request).unwrap().response;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{request:.60?}: {response}");
        assert!(response.contains("Connection: close\r\n"));
    }
}

#[test]
fn a_client_that_waits_for_100_continue_gets_it() {
    let authority = Authority::new().unwrap();
    let server = start(&authority);
    let mut stream = Client::new(&authority, Versions::Tls13).connect(server.address()).unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n").unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"abc").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[test]
fn client_certificates_are_asked_for_and_remembered() {
    let authority = Authority::new().unwrap();
    let server_identity = identity(&authority, KeyKind::P256);
    let client_identity = authority.client("someone.example").unwrap();
    let ca = authority.certificate().clone();
    for versions in [Versions::Tls12, Versions::Tls13] {
        for (client_auth, admits_strangers) in
            [(ClientAuth::Optional(ca.clone()), true), (ClientAuth::Required(ca.clone()), false)]
        {
            let server = EmbeddedServer::start(EmbeddedConfig {
                client_auth,
                versions,
                resumption: Resumption::Ticket,
                ..EmbeddedConfig::new(server_identity.clone())
            })
            .unwrap();
            let known = Client::with_identity(&authority, versions, &client_identity);
            for resumed in [false, true] {
                let fetched = known.fetch(server.address(), "/").unwrap();
                assert_eq!(fetched.resumed, resumed);
                assert!(account_of(&server, fetched.port).client_cert);
            }
            let stranger = Client::new(&authority, versions).fetch(server.address(), "/");
            assert_eq!(stranger.is_ok(), admits_strangers, "{versions:?}");
            if let Ok(fetched) = stranger {
                assert!(!account_of(&server, fetched.port).client_cert);
            } else {
                assert_eq!(server.failures().len(), 1);
            }
        }
    }
}

#[test]
fn early_data_is_accepted_when_sessions_are_stored() {
    let authority = Authority::new().unwrap();
    let server = EmbeddedServer::start(EmbeddedConfig {
        resumption: Resumption::Id,
        max_early_data: 1024,
        ..EmbeddedConfig::new(identity(&authority, KeyKind::P256))
    })
    .unwrap();
    let client = Client::build(&authority, Versions::Tls13, None, |config| config.enable_early_data = true);
    let primed = client.fetch(server.address(), "/").unwrap();
    assert_eq!(account_of(&server, primed.port).early_data, None);

    let request = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    let (port, response) = client.exchange_early(server.address(), request);
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"));
    let account = account_of(&server, port);
    assert_eq!((account.early_data, account.resumed, account.requests), (Some(request.len()), true, 1));
}

#[test]
fn a_group_that_the_client_sent_no_share_for_takes_a_retry() {
    let authority = Authority::new().unwrap();
    let server = EmbeddedServer::start(EmbeddedConfig {
        groups: vec![NamedGroup::secp384r1],
        ..EmbeddedConfig::new(identity(&authority, KeyKind::P256))
    })
    .unwrap();
    let fetched = Client::new(&authority, Versions::Tls13).fetch(server.address(), "/").unwrap();
    let account = account_of(&server, fetched.port);
    assert!(account.retried && !account.resumed);
    assert_eq!(account.group.as_deref(), Some("secp384r1"));
}

#[test]
fn an_unknown_version_is_a_failure_and_not_an_account() {
    let authority = Authority::new().unwrap();
    let config = EmbeddedConfig { versions: Versions::Tls13, ..EmbeddedConfig::new(identity(&authority, KeyKind::P256)) };
    let server = EmbeddedServer::start(config).unwrap();
    assert!(Client::new(&authority, Versions::Tls12).fetch(server.address(), "/").is_err());
    assert_eq!(server.accounts(), []);
    assert_eq!(server.failures().len(), 1);
}

#[test]
fn tickets_come_and_are_refused() {
    reprise_servers::require!("openssl");
    let authority = Authority::new().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let ca = directory.path().join("ca.pem");
    std::fs::write(&ca, authority.pem()).unwrap();
    let full = [Resumption::RefusedTicket, Resumption::TicketOfFull, Resumption::Ticket].map(|it| (it, 2));
    for (resumption, tickets) in [(Resumption::Off, 0)].into_iter().chain(full) {
        let config = EmbeddedConfig { resumption, ..EmbeddedConfig::new(identity(&authority, KeyKind::P256)) };
        let server = EmbeddedServer::start(config).unwrap();
        let output = s_client_output(server.address(), &ca, &["-tls1_3"]);
        assert_eq!(output.matches("New Session Ticket arrived").count(), tickets, "{resumption:?}");
    }
}

#[test]
fn forty_connections_are_served_at_once() {
    let authority = Authority::new().unwrap();
    let server = start(&authority);
    let client = Client::new(&authority, Versions::Tls13);
    let mut streams: Vec<_> = (0..40).map(|_| client.connect(server.address()).unwrap()).collect();
    thread::scope(|scope| {
        for stream in &mut streams {
            scope.spawn(|| {
                stream.write_all(b"GET /bytes/50000 HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
                let mut response = Vec::new();
                stream.read_to_end(&mut response).unwrap();
                assert!(response.len() > 50_000);
            });
        }
    });
    assert_eq!(server.accounts().iter().filter(|account| account.requests == 1).count(), 40);
}

#[test]
fn it_listens_on_ipv6_too() {
    let authority = Authority::new().unwrap();
    if std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        return; // A machine without IPv6.
    }
    let listen = (Ipv6Addr::LOCALHOST, 0).into();
    let config = EmbeddedConfig { listen, ..EmbeddedConfig::new(identity(&authority, KeyKind::P256)) };
    let server = EmbeddedServer::start(config).unwrap();
    assert!(server.address().is_ipv6());
    assert!(Client::new(&authority, Versions::Tls13).fetch(server.address(), "/").is_ok());
}

#[test]
fn dropping_ends_idle_and_half_open_connections() {
    let authority = Authority::new().unwrap();
    let server = start(&authority);
    let address = server.address();
    let mut kept = Client::new(&authority, Versions::Tls13).connect(address).unwrap();
    let mut silent = TcpStream::connect(address).unwrap();
    drop(server);
    let mut rest = Vec::new();
    let _ = kept.sock.read_to_end(&mut rest);
    let _ = silent.read_to_end(&mut rest);
    assert!(TcpStream::connect(address).is_err(), "the port is free again");
}

#[test]
fn a_port_in_use_is_an_error_that_names_it() {
    let authority = Authority::new().unwrap();
    let first = start(&authority);
    let config = EmbeddedConfig { listen: first.address(), ..EmbeddedConfig::new(identity(&authority, KeyKind::P256)) };
    let error = EmbeddedServer::start(config).unwrap_err().to_string();
    assert!(error.contains(&first.address().to_string()), "{error}");
}
