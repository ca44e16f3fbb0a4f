//! From bytes as they arrive to whole records.

use reprise_wire::Record;

use crate::error::Error;

/// Holds the bytes of records that have not arrived whole. It never holds more than was handed in at once plus one
/// record, since every whole record is taken before the next bytes come.
#[derive(Default)]
pub(crate) struct Deframer {
    buffer: Vec<u8>,
    /// Bytes at the front of `buffer` that have been taken.
    taken: usize,
    /// Whether a valid record was ever seen: before, garbage means that the peer does not speak TLS at all.
    spoke_tls: bool,
}

impl Deframer {
    /// Adds bytes from the wire.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole record, header included, to be opened in place.
    pub(crate) fn next_record(&mut self) -> Result<Option<&mut [u8]>, Error> {
        let waiting = &self.buffer[self.taken..];
        let length = match Record::parse(waiting) {
            Ok(Some((_, length))) => length,
            Ok(None) => return Ok(None),
            Err(_) if !self.spoke_tls => return Err(Error::not_tls(waiting)),
            Err(error) => return Err(Error::Malformed { message: "record", error }),
        };
        self.spoke_tls = true;
        let start = self.taken;
        self.taken += length;
        Ok(Some(&mut self.buffer[start..start + length]))
    }

    /// Whether the peer stopped in the middle of a record.
    pub(crate) fn holds_partial_record(&self) -> bool {
        self.taken < self.buffer.len()
    }
}
