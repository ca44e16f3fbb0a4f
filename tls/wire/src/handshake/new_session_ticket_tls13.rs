use crate::codec::{Reader, vec8, vec16};
use crate::extensions::EarlyDataLimit;
use crate::{Error, ExtensionType, Extensions, codec};

/// A ticket as TLS 1.3 sends it, at any time after the handshake (RFC 9846, section 4.7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewSessionTicketTls13<'a> {
    /// Seconds that the ticket may be used; 0: not at all.
    pub lifetime: u32,
    /// What hides the ticket's age, in milliseconds, from who watches.
    pub age_add: u32,
    /// Tells the PSKs of one connection apart; may be empty.
    pub nonce: &'a [u8],
    /// The ticket; not empty.
    pub ticket: &'a [u8],
    /// The extensions; only `early_data` is defined.
    pub extensions: Extensions<'a>,
}

impl<'a> NewSessionTicketTls13<'a> {
    /// Reads a whole body, the content of `early_data` included.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let ticket = NewSessionTicketTls13 {
            lifetime: reader.u32()?,
            age_add: reader.u32()?,
            nonce: reader.vec8()?,
            ticket: codec::non_empty(reader.vec16()?)?,
            extensions: Extensions::read(&mut reader)?,
        };
        reader.finish()?;
        ticket.early_data_limit()?;
        Ok(ticket)
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u32(out, self.lifetime);
        codec::u32(out, self.age_add);
        vec8(out, |out| out.extend_from_slice(self.nonce));
        vec16(out, |out| out.extend_from_slice(self.ticket));
        self.extensions.emit(out);
    }

    /// The most early data, in bytes, that the server takes under this ticket; `None`: it takes none.
    pub fn max_early_data_size(&self) -> Option<u32> {
        self.early_data_limit().ok().flatten()
    }

    fn early_data_limit(&self) -> Result<Option<u32>, Error> {
        let limit = self.extensions.find(ExtensionType::EARLY_DATA).map(EarlyDataLimit::parse).transpose()?;
        Ok(limit.map(|limit| limit.max_early_data_size))
    }
}
