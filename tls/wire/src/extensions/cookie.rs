use crate::codec::{Reader, vec16};
use crate::{Error, codec};

/// What a HelloRetryRequest gives the client to bring back (RFC 9846, section 4.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cookie<'a> {
    /// The server's own bytes; not empty.
    pub cookie: &'a [u8],
}

impl<'a> Cookie<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(Cookie { cookie: codec::non_empty(reader.vec16()?)? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.cookie));
    }
}
