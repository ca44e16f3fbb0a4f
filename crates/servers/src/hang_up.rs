//! Ways to end a connection from the server's side.

use std::io::Read;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// How long a client may leave the server's FIN unanswered.
const LINGER: Duration = Duration::from_secs(5);

/// Ends the connection in order: to close with input unread would send a reset instead.
pub(crate) fn close(socket: &TcpStream) {
    if socket.shutdown(Shutdown::Write).is_ok() && socket.set_read_timeout(Some(LINGER)).is_ok() {
        drain(socket);
    }
}

/// Reads until the client leaves or the server is dropped.
pub(crate) fn drain(mut socket: &TcpStream) {
    let mut unread = [0; 4096];
    while socket.read(&mut unread).is_ok_and(|count| count > 0) {}
}
