use crate::codec::{Reader, vec16};
use crate::{Error, List16, SignatureScheme, codec};

/// The signatures that the sender can verify: `signature_algorithms`, and of the same form for those in certificates
/// `signature_algorithms_cert` (RFC 9846, section 4.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureAlgorithms<'a> {
    /// The schemes, the preferred one first; not empty.
    pub schemes: List16<'a, SignatureScheme>,
}

impl<'a> SignatureAlgorithms<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| {
            Ok(SignatureAlgorithms { schemes: List16::from_bytes(codec::non_empty(reader.vec16()?)?)? })
        })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.schemes.as_bytes()));
    }

    /// Appends the data with these schemes.
    pub fn encode(schemes: &[SignatureScheme], out: &mut Vec<u8>) {
        vec16(out, |out| List16::encode(schemes, out));
    }
}
