use crate::{Error, Reader, codec};

/// The sender's next record is under its next key (RFC 9846, section 4.7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUpdate {
    /// Whether the receiver must change its key too.
    pub request_update: bool,
}

impl KeyUpdate {
    /// Reads a whole body.
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        Reader::whole(body, |reader| {
            Ok(KeyUpdate {
                request_update: match reader.u8()? {
                    0 => false,
                    1 => true,
                    _ => return Err(Error::Illegal("KeyUpdate asks for neither 0 nor 1")),
                },
            })
        })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u8(out, self.request_update.into());
    }
}
