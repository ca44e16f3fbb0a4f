//! A server that acts as a test's own code tells it to.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use reprise_lab::{Guest, Listener};

use crate::Result;
use crate::hang_up::{ConnectionEnd, end, listen};

/// What a server does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sends these bytes at once.
    Send(Vec<u8>),
    /// Waits for more from the client.
    Hear,
    /// Ends the connection.
    End(ConnectionEnd),
}

/// A server's side of one connection: bytes in, acts out.
pub trait Actor {
    /// Takes bytes from the client.
    fn hear(&mut self, bytes: &[u8]);

    /// What it does next, given what it has heard.
    fn act(&mut self) -> Act;
}

/// A TCP server on a free port of 127.0.0.1 with an actor of its own for each client: it calls `actor` for it.
///
/// # Errors
/// [`LabError::Listen`](reprise_lab::LabError::Listen) if there is no port to be had.
pub fn start_played<A: Actor>(actor: impl Fn() -> A + Send + Sync + 'static) -> Result<Listener> {
    listen(move |guest| play(guest, actor()))
}

fn play(guest: &Guest<'_>, mut actor: impl Actor) {
    let mut socket = &*guest.stream;
    let _ = socket.set_nodelay(true);
    loop {
        let outcome = match actor.act() {
            Act::Send(bytes) => socket.write_all(&bytes),
            Act::Hear => hear(socket, &mut actor),
            Act::End(how) => return end(guest, how),
        };
        if outcome.is_err() {
            return;
        }
    }
}

/// A client that has left ends the play.
fn hear(mut socket: &TcpStream, actor: &mut impl Actor) -> io::Result<()> {
    let mut bytes = [0; 16 * 1024];
    match socket.read(&mut bytes)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        count => {
            actor.hear(bytes.get(..count).unwrap_or_default());
            Ok(())
        }
    }
}
