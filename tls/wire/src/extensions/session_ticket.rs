use crate::Error;

/// A TLS 1.2 ticket to resume with; empty, to ask for one or to announce one (RFC 5077, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionTicket<'a> {
    /// The ticket, which is the whole of the data, without a length of its own (RFC 5077, appendix A).
    pub ticket: &'a [u8],
}

impl<'a> SessionTicket<'a> {
    /// Takes the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Ok(SessionTicket { ticket: data })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.ticket);
    }
}
