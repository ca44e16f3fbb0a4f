use crate::codec::{Reader, vec16};
use crate::{Error, codec};

/// A ticket as TLS 1.2 sends it, within the handshake (RFC 5077, section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewSessionTicketTls12<'a> {
    /// Seconds that the ticket is worth keeping; 0: the server does not say.
    pub lifetime_hint: u32,
    /// The ticket; empty if the server has changed its mind.
    pub ticket: &'a [u8],
}

impl<'a> NewSessionTicketTls12<'a> {
    /// Reads a whole body.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(body, |reader| Ok(NewSessionTicketTls12 { lifetime_hint: reader.u32()?, ticket: reader.vec16()? }))
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u32(out, self.lifetime_hint);
        vec16(out, |out| out.extend_from_slice(self.ticket));
    }
}
