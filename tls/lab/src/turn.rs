//! A connection of rustls in memory, turn by turn.

use std::io::{self, Read};

use rustls::ConnectionCommon;

/// A turn of a connection of rustls in memory: it takes `incoming`, and appends to `out` what it has to say, its alert too
/// where it refuses. Application data is appended to `heard`.
///
/// # Errors
/// What rustls says of its peer.
pub fn rustls_turn<Data>(
    connection: &mut ConnectionCommon<Data>,
    mut incoming: &[u8],
    heard: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<(), rustls::Error> {
    let room = |error: io::Error| rustls::Error::General(error.to_string());
    let mut taken = Ok(());
    // It takes a few kilobytes at a time, and nothing more after a close_notify.
    while taken.is_ok() && !incoming.is_empty() && connection.read_tls(&mut incoming).map_err(room)? > 0 {
        taken = connection.process_new_packets().map(drop);
        // It ends in an error where there may be more to come.
        let _ = connection.reader().read_to_end(heard);
    }
    while connection.wants_write() {
        connection.write_tls(out).map_err(room)?;
    }
    taken
}
