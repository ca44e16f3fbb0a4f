//! A listener of a test's own, and the ways to end a connection from its side.

use std::io::Read;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use reprise_lab::{Guest, Listener};

use crate::Result;

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// In order (FIN).
    Close,
    /// Broken off (RST).
    Reset,
    /// Not at all: nothing is said any more, and the connection stays open until the client leaves.
    Silence,
}

const MAX_CONNECTIONS: usize = 64;

/// Takes connections on a free port of 127.0.0.1. Dropping it ends its connections and threads.
pub(crate) fn listen(serve: impl Fn(&Guest<'_>) + Send + Sync + 'static) -> Result<Listener> {
    Ok(Listener::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), MAX_CONNECTIONS, serve)?)
}

/// Ends a connection.
pub(crate) fn end(guest: &Guest<'_>, how: ConnectionEnd) {
    match how {
        ConnectionEnd::Close => close(&guest.stream),
        ConnectionEnd::Reset => guest.reset(),
        ConnectionEnd::Silence => drain(&guest.stream),
    }
}

/// How long a client may leave the server's FIN unanswered.
const LINGER: Duration = Duration::from_secs(5);

/// Ends the connection in order: to close with input unread would send a reset instead.
fn close(socket: &TcpStream) {
    if socket.shutdown(Shutdown::Write).is_ok() && socket.set_read_timeout(Some(LINGER)).is_ok() {
        drain(socket);
    }
}

/// Reads until the client leaves or the server is dropped.
pub(crate) fn drain(mut socket: &TcpStream) {
    let mut unread = [0; 4096];
    while socket.read(&mut unread).is_ok_and(|count| count > 0) {}
}
