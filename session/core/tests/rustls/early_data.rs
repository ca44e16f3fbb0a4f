//! Single use where it matters. Rule 5.

use std::io::{Cursor, Read, Write};
#[cfg(feature = "tokio")]
use std::{
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use reprise_session::metrics::HandshakeKind;
use reprise_session::rustls::{ClientAuth, ResumingServer};
use rustls::ServerConnection;
#[cfg(feature = "tokio")]
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::pair::{Client, Fleet, Means, Played, VERSIONS, drive, server};

/// Sends early data; whether the server took it, and what the client sent first.
fn early(client: &Client, server: &ResumingServer) -> (bool, Vec<u8>) {
    let mut connection = client.hello();
    let Some(mut writer) = connection.early_data() else { return (false, Vec::new()) };
    writer.write_all(b"GET /").unwrap();
    let mut sent = Vec::new();
    connection.write_tls(&mut sent).unwrap();
    let mut served = ServerConnection::new(server.connection(&Default::default(), Default::default()).0).unwrap();
    served.read_tls(&mut &sent[..]).unwrap();
    served.process_new_packets().unwrap();
    let taken = served.early_data().is_some();
    drive(&mut connection, &mut served).unwrap();
    (taken, sent)
}

#[test]
fn replayed_early_data_is_refused() {
    let fleet = Fleet::new();
    let resumption = fleet.resumption(Means::Store);
    let identity = fleet.identity(&["localhost"]);
    let [one, other] =
        [(); 2].map(|()| server(&identity, &ClientAuth::none(), &resumption, |config| config.max_early_data_size = 1000));
    let mut client = fleet.client(VERSIONS[1]);
    client.config.enable_early_data = true;
    client.connect(&one);
    let (taken, sent) = early(&client, &one);
    assert!(taken);
    for node in [&one, &other] {
        let mut replayed = ServerConnection::new(node.connection(&Default::default(), Default::default()).0).unwrap();
        replayed.read_tls(&mut &sent[..]).unwrap();
        replayed.process_new_packets().unwrap();
        assert!(replayed.early_data().is_none());
    }
}

/// What a client that has been here sends first, with early data, and the client.
fn first_flight(fleet: &Fleet, server: &ResumingServer) -> (rustls::ClientConnection, Vec<u8>) {
    let mut client = fleet.client(VERSIONS[1]);
    client.config.enable_early_data = true;
    client.connect(server);
    let mut connection = client.hello();
    connection.early_data().expect("the limit is in the tickets of full handshakes").write_all(b"GET /").unwrap();
    let mut sent = Vec::new();
    connection.write_tls(&mut sent).unwrap();
    (connection, sent)
}

/// What it reads of the answer, before it has said anything else.
fn answer(connection: &mut rustls::ClientConnection, answered: &[u8]) -> Vec<u8> {
    let mut unread = answered;
    while !unread.is_empty() {
        connection.read_tls(&mut unread).unwrap();
        connection.process_new_packets().unwrap();
    }
    let mut answer = vec![0; 100];
    let count = connection.reader().read(&mut answer).unwrap();
    answer.truncate(count);
    answer
}

#[test]
fn early_data_is_read_and_answered_before_finished() {
    let fleet = Fleet::new();
    let resumption = fleet.resumption(Means::Store);
    let early = |config: &mut rustls::ServerConfig| config.max_early_data_size = 1000;
    let server = server(&fleet.identity(&["localhost"]), &ClientAuth::none(), &resumption, early);
    let (mut client, sent) = first_flight(&fleet, &server);
    // Whatever reads on finds the end.
    let mut tls = server.accept(Played { sent: Cursor::new(sent), answered: Vec::new() }).unwrap();
    assert!(tls.is_early());
    let mut request = [0; 100];
    assert_eq!(tls.read(&mut request).unwrap(), 5);
    tls.write_all(b"hello").unwrap();
    assert_eq!(answer(&mut client, &tls.sock.answered), b"hello");
    assert_eq!(fleet.counters.handshakes(HandshakeKind::Early), 1);
    // The rest comes, and with it the tickets.
    let mut rest = Vec::new();
    client.write_tls(&mut rest).unwrap();
    (tls.sock.sent, tls.sock.answered) = (Cursor::new(rest), Vec::new());
    tls.complete().unwrap();
    assert!(!tls.is_early() && !tls.sock.answered.is_empty());
}

#[cfg(feature = "tokio")]
#[test]
fn early_data_is_read_and_answered_before_finished_on_tokio() {
    let fleet = Fleet::new();
    let resumption = fleet.resumption(Means::Store);
    let early = |config: &mut rustls::ServerConfig| config.max_early_data_size = 1000;
    let server = server(&fleet.identity(&["localhost"]), &ClientAuth::none(), &resumption, early);
    let (mut client, sent) = first_flight(&fleet, &server);
    let mut context = Context::from_waker(Waker::noop());
    let accepting = pin!(server.accept_tokio(Played { sent: Cursor::new(sent), answered: Vec::new() }));
    let Poll::Ready(Ok(mut tls)) = accepting.poll(&mut context) else { panic!("it waits for more") };
    let mut request = [0; 100];
    let mut request = ReadBuf::new(&mut request);
    assert!(matches!(Pin::new(&mut tls).poll_read(&mut context, &mut request), Poll::Ready(Ok(()))));
    assert_eq!(request.filled(), b"GET /");
    assert!(matches!(Pin::new(&mut tls).poll_write(&mut context, b"hello"), Poll::Ready(Ok(5))));
    assert_eq!(answer(&mut client, &tls.sock.answered), b"hello");
}
