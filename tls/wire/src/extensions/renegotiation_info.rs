use crate::Error;
use crate::codec::{Reader, vec8};

/// Ties a TLS 1.2 handshake to the one before it on the connection (RFC 5746, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenegotiationInfo<'a> {
    /// The Finished messages of the handshake before, the client's and then the server's; empty in the first.
    pub renegotiated_connection: &'a [u8],
}

impl<'a> RenegotiationInfo<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(RenegotiationInfo { renegotiated_connection: reader.vec8()? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.renegotiated_connection));
    }
}
