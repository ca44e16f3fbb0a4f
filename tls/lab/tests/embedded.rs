//! What the embedded server answers, and how it ends. How it resumes, with which keys, groups and certificates of clients, is held against
//! four clients in `tool/cli/tests`: `measure/every_server`, `measure/client_authentication` and `differential`.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use reprise_harness::client::Client;
use reprise_lab::{
    Authority, ConnectionAccount, EmbeddedConfig, EmbeddedServer, Identity, KeyKind, ServerApplication, ServerSpec, Turn,
    Versions,
};

fn identity(authority: &Authority) -> Identity {
    authority.server(&ServerSpec::new(KeyKind::P256)).unwrap()
}

/// A server, and a client that trusts it.
fn start() -> (EmbeddedServer, Client) {
    let authority = Authority::new().unwrap();
    let server = EmbeddedServer::start(EmbeddedConfig::new(identity(&authority))).unwrap();
    (server, Client::new(&authority, Versions::Tls13))
}

fn account_of(server: &EmbeddedServer, port: u16) -> ConnectionAccount {
    server.accounts().into_iter().find(|account| account.peer_port == port).unwrap()
}

#[test]
fn a_dialogue_that_the_client_does_not_keep_to_is_noted() {
    let authority = Authority::new().unwrap();
    let application = ServerApplication::Dialogue(vec![Turn::Says(b"220 mail\r\n".to_vec()), Turn::Hears(b"EHLO".to_vec())]);
    let config = EmbeddedConfig { application, ..EmbeddedConfig::new(identity(&authority)) };
    let server = EmbeddedServer::start(config).unwrap();
    let _ = Client::new(&authority, Versions::Tls13).fetch(server.address(), "/");
    assert_eq!((server.completed(), server.misheard()), (1, vec!["heard GET , not EHLO".to_owned()]));
}

#[test]
fn a_kept_connection_counts_its_requests() {
    let (server, client) = start();
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
    let (server, client) = start();
    let kept = "GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";
    let fetched = client.exchange(server.address(), &format!("{kept}{kept}GET /chunked HTTP/1.0\r\n\r\n")).unwrap();
    let said = |connection| fetched.response.matches(connection).count();
    assert_eq!(said("Content-Length: 12\r\nConnection: keep-alive\r\n\r\n"), 2, "{}", fetched.response);
    assert_eq!(said("Content-Length: 12\r\nConnection: close\r\n\r\n"), 1, "{}", fetched.response);
    assert_eq!(account_of(&server, fetched.port).requests, 3);
}

#[test]
fn paths_choose_the_answer() {
    let (server, client) = start();
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
    let (server, client) = start();
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
    let (server, client) = start();
    let mut stream = client.connect(server.address()).unwrap();
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
fn forty_connections_are_served_at_once() {
    let (server, client) = start();
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
fn dropping_ends_idle_and_half_open_connections() {
    let (server, client) = start();
    let address = server.address();
    let mut kept = client.connect(address).unwrap();
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
    let (first, _) = start();
    let config = EmbeddedConfig { listen: first.address(), ..EmbeddedConfig::new(identity(&authority)) };
    let error = EmbeddedServer::start(config).unwrap_err().to_string();
    assert!(error.contains(&first.address().to_string()), "{error}");
}
