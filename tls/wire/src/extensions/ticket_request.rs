use crate::{Error, Reader, codec};

/// How many tickets a client would like (RFC 9149, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicketRequest {
    /// Tickets wanted if the handshake is a full one.
    pub new_session_count: u8,
    /// Tickets wanted if it resumes.
    pub resumption_count: u8,
}

impl TicketRequest {
    /// Reads the data.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(TicketRequest { new_session_count: reader.u8()?, resumption_count: reader.u8()? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.new_session_count, self.resumption_count]);
    }
}

/// How many tickets a server means to send, in its EncryptedExtensions (RFC 9149, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicketRequestHint {
    /// Tickets to expect.
    pub expected_count: u8,
}

impl TicketRequestHint {
    /// Reads the data.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(TicketRequestHint { expected_count: reader.u8()? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u8(out, self.expected_count);
    }
}
