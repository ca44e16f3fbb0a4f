use crate::{Error, Reader, codec};

/// `early_data` in a NewSessionTicket; in a hello and in EncryptedExtensions it is [`Empty`](super::Empty) (RFC 9846,
/// section 4.3.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyDataLimit {
    /// The most early data, in bytes, that the server takes under the ticket.
    pub max_early_data_size: u32,
}

impl EarlyDataLimit {
    /// Reads the data.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(EarlyDataLimit { max_early_data_size: reader.u32()? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u32(out, self.max_early_data_size);
    }
}
