//! The watched server keeps what each client offered, and which of its own sessions that was.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use reprise_harness::client::Client;
use reprise_lab::{Authority, KeyKind, ServerSpec, Versions, WatchedConfig, WatchedServer};
use reprise_model::{FailureClass, Kind, Version, WatchedConnection, WatchedEnd, WatchedHandshake};
use rustls::client::{Resumption, Tls12Resumption};

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
fn tickets_are_known_by_their_connection() {
    let authority = Authority::new().unwrap();
    let server = server(&authority);
    let client = Client::new(&authority, Versions::Tls13);
    for _ in 0..3 {
        client.fetch(server.address(), "/").unwrap();
    }
    let connections = watched(&server);
    assert_eq!(kinds(&connections), [Kind::Full, Kind::Ticket, Kind::Ticket]);
    let offered: Vec<_> = connections.iter().map(|it| it.offer.as_ref().unwrap().sessions.first().copied()).collect();
    assert_eq!(offered[0], None);
    for (number, offered) in offered.iter().enumerate().skip(1) {
        let session = offered.unwrap();
        assert_eq!((session.version, session.mechanism), (Version::Tls13, Kind::Ticket));
        assert!(session.given.is_some_and(|given| given.connection < number as u32), "{session:?}");
    }
    assert!(connections.iter().all(|it| it.sessions_given == 2 && it.requests == 1 && !it.left_before_tickets));
}

#[test]
fn without_tickets_tls12_resumes_by_id() {
    let authority = Authority::new().unwrap();
    for (resumption, kind) in
        [(Tls12Resumption::SessionIdOnly, Kind::Id), (Tls12Resumption::SessionIdOrTickets, Kind::Ticket)]
    {
        let server = server(&authority);
        let client = Client::build(&authority, Versions::Tls12, None, |config| {
            config.resumption = Resumption::in_memory_sessions(8).tls12_resumption(resumption);
        });
        client.fetch(server.address(), "/").unwrap();
        client.fetch(server.address(), "/").unwrap();
        let connections = watched(&server);
        assert_eq!(kinds(&connections), [Kind::Full, kind]);
        let session = connections[1].offer.as_ref().unwrap().sessions[0];
        assert_eq!(session.mechanism, kind);
        assert_eq!(session.given.map(|given| given.connection), Some(0));
        assert_eq!(connections[1].offer.as_ref().unwrap().session_ticket, kind == Kind::Ticket);
    }
}

#[test]
fn a_client_that_leaves_at_once_is_seen_to_leave() {
    let authority = Authority::new().unwrap();
    let server = server(&authority);
    let client = Client::new(&authority, Versions::Tls13);
    let mut stream = client.connect(server.address()).unwrap();
    stream.conn.send_close_notify();
    stream.conn.complete_io(&mut stream.sock).unwrap();
    stream.sock.shutdown(Shutdown::Both).unwrap();
    drop(stream);
    let connections = watched(&server);
    assert!(connections[0].left_before_tickets, "{:?}", connections[0]);
    assert!(matches!(connections[0].end, Some((_, WatchedEnd::CloseNotify | WatchedEnd::Fin | WatchedEnd::Reset))));
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
fn a_client_that_does_not_trust_is_told_apart() {
    let server = server(&Authority::new().unwrap());
    let stranger = Client::new(&Authority::new().unwrap(), Versions::Both);
    assert!(stranger.fetch(server.address(), "/").is_err());
    let connections = watched(&server);
    let WatchedHandshake::Failed(end) = &connections[0].handshake else { panic!("{:?}", connections[0].handshake) };
    assert_eq!(end.class, FailureClass::Certificate, "{end:?}");
    // Both authorities have the same name.
    assert_eq!(end.alert.as_deref(), Some("decrypt_error"));
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
