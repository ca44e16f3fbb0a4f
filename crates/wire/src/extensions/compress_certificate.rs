use crate::codec::{Reader, vec8};
use crate::{CertificateCompressionAlgorithm, Error, List16, codec};

/// The compressions that the sender can undo (RFC 8879, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressCertificate<'a> {
    /// The algorithms; not empty.
    pub algorithms: List16<'a, CertificateCompressionAlgorithm>,
}

impl<'a> CompressCertificate<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| {
            Ok(CompressCertificate { algorithms: List16::from_bytes(codec::non_empty(reader.vec8()?)?)? })
        })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.algorithms.as_bytes()));
    }
}
