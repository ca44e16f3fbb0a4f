use crate::{Error, Reader, codec};

/// A smaller limit on fragments, asked for by the client and echoed by the server (RFC 6066, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxFragmentLength(pub u8);

impl MaxFragmentLength {
    /// Reads the data.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(data);
        let code = reader.u8()?;
        reader.finish()?;
        Ok(MaxFragmentLength(code))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u8(out, self.0);
    }

    /// The most plaintext in a record, in bytes; `None` for a code that is not defined.
    pub const fn bytes(self) -> Option<usize> {
        match self.0 {
            1 => Some(512),
            2 => Some(1024),
            3 => Some(2048),
            4 => Some(4096),
            _ => None,
        }
    }
}
