//! A TLS 1.2 server that resumes some sessions with another secret than the client's: a good one, and before it a relay that spoils what
//! follows the ServerHello that accepts.

use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};

use reprise_lab::Listener;

use crate::Result;
use crate::hang_up::listen;
use crate::relay::{forward_requests, read_record};

/// Forwards to `upstream` from a free port of 127.0.0.1. Of `each` resumptions under TLS 1.2 one goes wrong: the server's Finished does not
/// decrypt.
///
/// # Errors
/// [`LabError::Listen`](reprise_lab::LabError::Listen) if there is no port to be had.
pub fn start_with_wrong_secrets(upstream: SocketAddr, each: usize) -> Result<Listener> {
    let resumptions = AtomicUsize::new(0);
    listen(move |guest| {
        let is_wrong = || resumptions.fetch_add(1, Ordering::SeqCst) % each == each - 1;
        guest.relay(upstream, forward_requests, |server, client| forward(server, client, is_wrong));
    })
}

const HANDSHAKE: u8 = 22;
const CHANGE_CIPHER_SPEC: u8 = 20;
const CERTIFICATE: u8 = 11;

fn forward(server: &TcpStream, mut client: &TcpStream, is_wrong: impl Fn() -> bool) -> io::Result<()> {
    let (mut is_full, mut is_protected) = (false, false);
    while let Some(mut record) = read_record(server)? {
        match record.first() {
            Some(&HANDSHAKE) if !is_protected => is_full |= has_certificate(record.get(5..).unwrap_or_default()),
            Some(&CHANGE_CIPHER_SPEC) => is_protected = true,
            // The Finished.
            Some(&HANDSHAKE) if !is_full && is_wrong() => record.last_mut().into_iter().for_each(|byte| *byte ^= 1),
            _ => {}
        }
        client.write_all(&record)?;
    }
    client.shutdown(Shutdown::Write)?;
    let _ = server.shutdown(Shutdown::Both);
    Ok(())
}

/// Whether one of these messages is a Certificate: type (1), length (3), body.
fn has_certificate(mut messages: &[u8]) -> bool {
    while let [kind, high, middle, low, rest @ ..] = messages {
        if *kind == CERTIFICATE {
            return true;
        }
        let length = usize::from(*high) << 16 | usize::from(*middle) << 8 | usize::from(*low);
        messages = rest.get(length..).unwrap_or_default();
    }
    false
}
