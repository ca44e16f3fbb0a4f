use crate::codec::{Reader, vec16};
use crate::{Element, Error, List, codec};

/// The server's proofs that its certificate is logged; the client asks with [`Empty`](super::Empty) (RFC 6962,
/// section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedCertificateTimestampList<'a> {
    /// The timestamps; not empty.
    pub timestamps: List<'a, SerializedSct<'a>>,
}

impl<'a> SignedCertificateTimestampList<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(data);
        let timestamps = List::from_bytes(codec::non_empty(reader.vec16()?)?)?;
        reader.finish()?;
        Ok(SignedCertificateTimestampList { timestamps })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.timestamps.as_bytes()));
    }
}

/// One timestamp as the log signed it; not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SerializedSct<'a>(pub &'a [u8]);

impl<'a> Element<'a> for SerializedSct<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        codec::non_empty(reader.vec16()?).map(SerializedSct)
    }

    fn write(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.0));
    }
}
