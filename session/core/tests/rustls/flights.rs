//! What leaves in one write, and that no error goes without its alert.

use std::io;

use reprise_session::metrics::{HandshakeFailure, HandshakeKind, Issued};
use reprise_session::rustls::{ClientAuth, ResumingServer};
use rustls::Error::AlertReceived;
use rustls::version::TLS13;
use rustls::{ServerConfig, SupportedProtocolVersion};

use super::line::Line;
use super::pair::{Client, Fleet, Means, VERSIONS, provider};

type Accept = fn(&ResumingServer, &mut Line) -> io::Result<()>;

/// Each way in which a connection is accepted.
fn ways() -> Vec<(&'static str, Accept)> {
    let blocking: Accept = |server, line| server.accept(line).map(drop);
    #[cfg(feature = "tokio")]
    let tokio: Accept = |server, line| until_ready(server.accept_tokio(line)).map(drop);
    vec![
        ("blocking", blocking),
        #[cfg(feature = "tokio")]
        ("tokio", tokio),
    ]
}

#[cfg(feature = "tokio")]
fn until_ready<T>(accepting: impl Future<Output = T>) -> T {
    use std::task::{Context, Poll, Waker};
    let mut accepting = std::pin::pin!(accepting);
    for _ in 0..10_000 {
        if let Poll::Ready(done) = accepting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return done;
        }
    }
    panic!("it waits for ever")
}

#[test]
fn a_flight_leaves_in_one_write() {
    let fleet = Fleet::new();
    let server = fleet.server(&fleet.resumption(Means::Tickets));
    for (way, accept) in ways() {
        for version in VERSIONS {
            for takes_parts in [true, false] {
                let client = fleet.client(version);
                // TLS 1.2, resumed: the server's one flight. Else its first one, and the ticket with what ends the handshake.
                let resumed = if version == &TLS13 { 2 } else { 1 };
                for expected in [2, resumed] {
                    let line = Line::new(client.hello());
                    let mut line = if takes_parts { line } else { line.one_part_at_a_time() };
                    accept(&server, &mut line).unwrap();
                    assert_eq!(line.writes.len(), expected, "{way} {version:?} {takes_parts}: {:?}", line.writes);
                    assert_eq!(line.heard, None);
                }
            }
        }
    }
    let kinds = [HandshakeKind::Full, HandshakeKind::Ticket].map(|kind| fleet.counters.handshakes(kind));
    let each = 4 * ways().len() as u64;
    assert_eq!(kinds, [each; 2]);
    // Two at a time under TLS 1.3; under TLS 1.2 one, also where a ticket was resumed.
    assert_eq!(fleet.counters.sessions_issued(Issued::Ticket), each / 2 * (2 + 2 + 1 + 1));
}

/// Records behind the ClientHello that have no place there.
const BAD_RECORDS: [&[u8]; 4] = [
    // A heartbeat.
    &[24, 3, 3, 0, 3, 1, 0, 0],
    // Application data.
    &[23, 3, 3, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
    // A handshake message of an unknown type.
    &[22, 3, 3, 0, 4, 99, 0, 0, 0],
    // A record of a type that nobody knows.
    &[99, 3, 3, 0, 1, 0],
];

#[test]
fn a_bad_record_behind_the_hello_gets_its_alert() {
    let fleet = Fleet::new();
    let server = fleet.server(&fleet.resumption(Means::Tickets));
    let mut refused = 0;
    for (way, accept) in ways() {
        for version in VERSIONS {
            for record in BAD_RECORDS {
                for room in [None, Some(100), Some(1)] {
                    let line = Line::new(fleet.client(version).hello()).behind(record);
                    let mut line = room.into_iter().fold(line, Line::narrow);
                    let error = accept(&server, &mut line).unwrap_err();
                    assert!(error.get_ref().is_some_and(|error| error.is::<rustls::Error>()), "{error:?}");
                    let heard = line.heard;
                    assert!(matches!(heard, Some(AlertReceived(_))), "{way} {version:?} {record:?} {room:?}: {heard:?}");
                    refused += 1;
                }
            }
        }
    }
    assert_eq!(fleet.counters.handshakes_failed(HandshakeFailure::Refused), refused);
}

#[test]
fn a_hello_that_is_refused_gets_its_alert() {
    let fleet = Fleet::new();
    let (identity, client_auth) = (fleet.identity(&["localhost"]), ClientAuth::none());
    let builder = ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13]).unwrap();
    let config = client_auth.apply(builder).with_single_cert(identity.chain().to_vec(), identity.key_der()).unwrap();
    let server = ResumingServer::new(config, &client_auth, &fleet.resumption(Means::Tickets)).unwrap();
    for (way, accept) in ways() {
        let mut line = Line::new(fleet.client(VERSIONS[0]).hello());
        accept(&server, &mut line).unwrap_err();
        assert!(matches!(line.heard, Some(AlertReceived(_))), "{way}: {:?}", line.heard);
    }
}

#[test]
fn a_failed_handshake_is_counted_by_its_reason() {
    let fleet = Fleet::new();
    let resumption = fleet.builder().tickets(fleet.ring.clone()).max_hello(100).build().unwrap();
    let (small, server) = (fleet.server(&resumption), fleet.server(&fleet.resumption(Means::Tickets)));
    let stranger =
        |version: &'static SupportedProtocolVersion| Client::new(&reprise_lab::Authority::new().unwrap(), version, None);
    for (way, accept) in ways() {
        let before = HandshakeFailure::ALL.map(|why| fleet.counters.handshakes_failed(why));
        // A hello of more than a hundred bytes; a client that trusts another authority, and one that goes away.
        accept(&small, &mut Line::new(fleet.client(VERSIONS[1]).hello())).unwrap_err();
        accept(&server, &mut Line::new(stranger(VERSIONS[1]).hello())).unwrap_err();
        accept(&server, &mut Line::new(closed(&fleet))).unwrap_err();
        let after = HandshakeFailure::ALL.map(|why| fleet.counters.handshakes_failed(why));
        let counted: Vec<u64> = before.into_iter().zip(after).map(|(before, after)| after - before).collect();
        // As they are declared: too long, refused, alert, closed, timeout, stream.
        assert_eq!(counted, [1, 0, 1, 1, 0, 0], "{way}");
    }
    assert_eq!(fleet.counters.handshakes(HandshakeKind::Full), 0);
}

/// A client that has said its hello elsewhere, and says nothing.
fn closed(fleet: &Fleet) -> rustls::ClientConnection {
    let mut client = fleet.client(VERSIONS[1]).hello();
    client.write_tls(&mut Vec::new()).unwrap();
    client
}

#[cfg(feature = "tokio")]
#[test]
fn a_handshake_that_nobody_waits_for_is_counted() {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    /// Says nothing, and does not end.
    struct Silent;

    impl AsyncRead for Silent {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    impl AsyncWrite for Silent {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    let fleet = Fleet::new();
    let server = fleet.server(&fleet.resumption(Means::Tickets));
    let mut accepting = Box::pin(server.accept_tokio(Silent));
    let polled: Poll<io::Result<reprise_session::rustls::TlsStream<Silent>>> =
        accepting.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    drop(accepting);
    assert_eq!(fleet.counters.handshakes_failed(HandshakeFailure::Timeout), 1);
}
