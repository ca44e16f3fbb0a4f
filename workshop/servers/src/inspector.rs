//! A middlebox before a good server: it looks at each ClientHello, and does not let everybody in.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use reprise_lab::{Guest, Listener};

use crate::Result;
use crate::hang_up::{ConnectionEnd, end, listen};
use crate::relay::forward;

/// How a middlebox refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MiddleboxRefusal {
    /// By a fatal alert of this description, and a FIN.
    Alert(u8),
    /// By a FIN.
    Close,
    /// Not at all: it says nothing any more.
    Silence,
}

/// Asks `judge` about the first record of each client, header and all, that connects to a free port of 127.0.0.1, and forwards to
/// `upstream` whom it does not refuse.
///
/// # Errors
/// [`LabError::Listen`](reprise_lab::LabError::Listen) if there is no port to be had.
pub fn start_inspector(
    upstream: SocketAddr,
    judge: impl Fn(&[u8]) -> Option<MiddleboxRefusal> + Send + Sync + 'static,
) -> Result<Listener> {
    listen(move |guest| match judge(&first_record(&guest.stream)) {
        None => forward(guest, upstream),
        Some(refusal) => refuse(guest, refusal),
    })
}

/// Forwards each client that connects to a free port of 127.0.0.1 to the server that `choose` names by its first record, header and all.
///
/// # Errors
/// [`LabError::Listen`](reprise_lab::LabError::Listen) if there is no port to be had.
pub fn start_router(choose: impl Fn(&[u8]) -> SocketAddr + Send + Sync + 'static) -> Result<Listener> {
    listen(move |guest| forward(guest, choose(&first_record(&guest.stream))))
}

const HEADER_BYTES: usize = 5;
/// Longer than a client takes to send the rest of what it has begun.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks at it without taking it: the server is to read it too. What there is of it, where it does not come whole.
fn first_record(client: &TcpStream) -> Vec<u8> {
    let mut bytes = vec![0; 32 * 1024];
    let end = Instant::now() + PATIENCE;
    let mut seen = 0;
    while let Ok(count @ 1..) = client.peek(&mut bytes) {
        seen = count;
        let whole = match bytes.get(..HEADER_BYTES) {
            Some(&[_, _, _, high, low]) => HEADER_BYTES + usize::from(u16::from_be_bytes([high, low])),
            _ => HEADER_BYTES,
        };
        if (count >= HEADER_BYTES && count >= whole) || Instant::now() >= end {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    bytes.truncate(seen);
    bytes
}

fn refuse(guest: &Guest<'_>, refusal: MiddleboxRefusal) {
    let how = match refusal {
        MiddleboxRefusal::Alert(description) => {
            // fatal (2), RFC 9846 section 6.
            let _ = (&*guest.stream).write_all(&[21, 3, 3, 0, 2, 2, description]);
            ConnectionEnd::Close
        }
        MiddleboxRefusal::Close => ConnectionEnd::Close,
        MiddleboxRefusal::Silence => ConnectionEnd::Silence,
    };
    end(guest, how);
}
