use crate::{Error, Reader, codec};

/// The longest record that the sender will take (RFC 8449, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordSizeLimit {
    /// Bytes of protected plaintext, content type and padding of TLS 1.3 included; at least 64.
    pub record_size_limit: u16,
}

impl RecordSizeLimit {
    /// Reads the data; a limit below 64 is [`Error::Illegal`].
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(data);
        let record_size_limit = reader.u16()?;
        reader.finish()?;
        if record_size_limit < 64 {
            return Err(Error::Illegal("record_size_limit is below 64"));
        }
        Ok(RecordSizeLimit { record_size_limit })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u16(out, self.record_size_limit);
    }
}
