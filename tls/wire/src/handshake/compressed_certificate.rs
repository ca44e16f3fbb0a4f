use crate::{CertificateCompressionAlgorithm, Error, Reader, codec};

/// The body of a TLS 1.3 Certificate, compressed (RFC 8879, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedCertificate<'a> {
    /// How: one of those that the receiver can undo.
    pub algorithm: CertificateCompressionAlgorithm,
    /// The bytes of the body once it is whole again, at most 2^24 − 1: what the sender says.
    pub uncompressed_length: u32,
    /// The compressed bytes; not empty.
    pub compressed: &'a [u8],
}

impl<'a> CompressedCertificate<'a> {
    /// Reads a whole body.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(body, |reader| {
            Ok(CompressedCertificate {
                algorithm: CertificateCompressionAlgorithm(reader.u16()?),
                uncompressed_length: reader.u24()?,
                compressed: codec::non_empty(reader.vec24()?)?,
            })
        })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let [_, length @ ..] = self.uncompressed_length.to_be_bytes();
        codec::u16(out, self.algorithm.0);
        out.extend_from_slice(&length);
        codec::vec24(out, |out| out.extend_from_slice(self.compressed));
    }
}
