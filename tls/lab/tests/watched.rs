//! What the watched server keeps of clients that leave, and of what is no client. What it keeps of real ones shows in what is said of them:
//! `tool/cli/tests/diagnose_client`.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use reprise_harness::client::Client;
use reprise_lab::{Authority, KeyKind, ServerSpec, Versions, WatchedConfig, WatchedServer};
use reprise_model::{Kind, WatchedConnection, WatchedEnd};

fn server(authority: &Authority) -> WatchedServer {
    let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    WatchedServer::start(WatchedConfig::new(identity.chain().to_vec(), identity.key_der(), listen)).unwrap()
}

/// What was seen, once every connection has ended.
fn watched(server: &WatchedServer) -> Vec<WatchedConnection> {
    let end = Instant::now() + Duration::from_secs(60);
    while server.open() > 0 {
        assert!(Instant::now() < end, "a connection is still open: {:#?}", server.watched());
        std::thread::sleep(Duration::from_millis(2));
    }
    server.watched().connections
}

fn kinds(connections: &[WatchedConnection]) -> Vec<Kind> {
    connections.iter().filter_map(|it| Some(it.agreed()?.kind)).collect()
}

#[test]
fn tickets_left_unread_end_in_a_reset() {
    let authority = Authority::new().unwrap();
    let server = server(&authority);
    let client = Client::new(&authority, Versions::Tls13);
    let stream = client.connect(server.address()).unwrap();
    // Until the tickets have arrived, which this only looks at.
    stream.sock.peek(&mut [0]).unwrap();
    drop(stream);
    let connections = watched(&server);
    assert!(!connections[0].left_before_tickets);
    assert!(matches!(connections[0].end, Some((_, WatchedEnd::Reset))), "{:?}", connections[0].end);
}

#[test]
fn a_resuming_hello_has_another_ja4_and_the_same_stable_form() {
    let authority = Authority::new().unwrap();
    let server = server(&authority);
    let client = Client::new(&authority, Versions::Tls13);
    for _ in 0..2 {
        client.fetch(server.address(), "/").unwrap();
    }
    let connections = watched(&server);
    assert_eq!(kinds(&connections)[0], Kind::Full);
    assert_ne!(kinds(&connections)[1], Kind::Full);
    let [full, resumed] = [0, 1].map(|number: usize| &connections[number].offer.as_ref().unwrap().fingerprint);
    assert!(full.ja4.starts_with("t13d"), "{full:?}");
    assert_ne!(full.ja4, resumed.ja4);
    assert_eq!(full.stable, resumed.stable);
}

#[test]
fn bytes_that_are_no_tls_are_survived() {
    let authority = Authority::new().unwrap();
    let server = server(&authority);
    let noise: [&[u8]; 6] = [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        &[22, 3, 1, 0xff, 0xff],
        &[22, 3, 1, 0, 4, 1, 0, 0, 0],
        &[22, 3, 1, 0, 2, 1, 0],
        &[21, 3, 3, 0, 2, 2, 48],
    ];
    for bytes in noise {
        let mut socket = TcpStream::connect(server.address()).unwrap();
        socket.write_all(bytes).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        let _ = socket.read_to_end(&mut Vec::new());
    }
    Client::new(&authority, Versions::Both).fetch(server.address(), "/").unwrap();
    let connections = watched(&server);
    assert_eq!(connections.len(), noise.len() + 1);
    assert_eq!(kinds(&connections), [Kind::Full]);
}
