//! A flight in one write. rustls writes it by one call of `write_vectored`, which a stream that does not take several parts at once
//! answers with the first alone: then each message would leave in a packet of its own, and Nagle's algorithm hold the second
//! back until the client acknowledges the first, 40 ms later.

use std::io::{self, IoSlice, Write};

/// More than any flight of a handshake, but for chains of certificates as long as nobody has them.
const LONGEST: usize = 16 * 1024;

/// The parts as one, unless they are more than a flight.
pub(super) fn joined(parts: &[IoSlice<'_>]) -> Option<Vec<u8>> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    if parts.len() < 2 || length > LONGEST {
        return None;
    }
    let mut flight = Vec::with_capacity(length);
    parts.iter().for_each(|part| flight.extend_from_slice(part));
    Some(flight)
}

/// A blocking stream, which cannot be asked whether it takes several parts at once.
pub(super) struct Joining<'a, S>(pub(super) &'a mut S);

impl<S: Write> Write for Joining<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match joined(parts) {
            Some(flight) => self.0.write(&flight),
            None => self.0.write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
