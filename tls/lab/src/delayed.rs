//! A relay that is far away: what it forwards arrives later.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;
use crate::listener::{Guest, Listener};

/// More than a client makes at a time that measures.
const MAX_CONNECTIONS: usize = 64;

/// Forwards connections to a free port of 127.0.0.1 to `upstream`, both ways, each byte `one_way` later than it came.
///
/// The relay itself accepts at once, as no server that is far away does: so the client's first bytes are held back for one round
/// trip more, which is when they would have left. A connection takes as long in all as over a path with this delay; that part of it
/// is seen in the handshake, though, and not in the connecting.
///
/// # Errors
/// [`LabError::Listen`](crate::LabError::Listen) if there is no port to be had.
pub fn start_delayed_relay(upstream: SocketAddr, one_way: Duration) -> Result<Listener> {
    Listener::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), MAX_CONNECTIONS, move |guest| {
        relay(guest, upstream, one_way)
    })
}

fn relay(guest: &Guest<'_>, upstream: SocketAddr, one_way: Duration) {
    let accepted = Instant::now();
    let connected = accepted + 2 * one_way;
    guest.relay(
        upstream,
        |client, server| drop(forward(client, server, connected, one_way)),
        |server, client| forward(server, client, accepted, one_way),
    );
}

/// Forwards one way, to its end: nothing leaves before `since`, and all of it so much later than it came.
fn forward(mut from: &TcpStream, to: &TcpStream, since: Instant, delay: Duration) -> io::Result<()> {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        let writer = thread::Builder::new().spawn_scoped(scope, move || write_when_due(to, &receiver))?;
        let read = read_all(&mut from, since, delay, sender);
        let written = writer.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the relay is gone")));
        read.and(written)
    })
}

fn read_all(from: &mut &TcpStream, since: Instant, delay: Duration, sender: Sender<(Instant, Vec<u8>)>) -> io::Result<()> {
    let mut bytes = [0; 16_384];
    loop {
        let count = from.read(&mut bytes)?;
        let due = Instant::now().max(since) + delay;
        let chunk = bytes.get(..count).unwrap_or_default().to_vec();
        // The last is empty, and stands for the end.
        if sender.send((due, chunk)).is_err() || count == 0 {
            return Ok(());
        }
    }
}

fn write_when_due(mut to: &TcpStream, receiver: &Receiver<(Instant, Vec<u8>)>) -> io::Result<()> {
    for (due, chunk) in receiver {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if chunk.is_empty() {
            return to.shutdown(Shutdown::Write);
        }
        to.write_all(&chunk)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn bytes_arrive_both_ways_and_never_early() {
        let upstream = TcpListener::bind("127.0.0.1:0").unwrap();
        let one_way = Duration::from_millis(20);
        let relay = start_delayed_relay(upstream.local_addr().unwrap(), one_way).unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = upstream.accept().unwrap();
            let mut heard = Vec::new();
            stream.read_to_end(&mut heard).unwrap();
            stream.write_all(&heard).unwrap();
        });
        let begin = Instant::now();
        let mut client = TcpStream::connect(relay.address()).unwrap();
        client.write_all(b"there and back").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).unwrap();
        server.join().unwrap();
        assert_eq!(heard, b"there and back");
        // A round trip to connect, and one for the bytes: a lower bound, which no slow machine breaks.
        assert!(begin.elapsed() >= 4 * one_way);
    }
}
