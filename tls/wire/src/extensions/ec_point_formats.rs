use crate::codec::{Reader, vec8};
use crate::{Error, codec};

/// How points may be encoded under TLS 1.2 (RFC 8422, section 5.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcPointFormats<'a> {
    /// The formats, not empty: 0 is uncompressed, the others are deprecated.
    pub formats: &'a [u8],
}

impl<'a> EcPointFormats<'a> {
    /// The one format in use.
    pub const UNCOMPRESSED: u8 = 0;

    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(EcPointFormats { formats: codec::non_empty(reader.vec8()?)? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.formats));
    }
}
