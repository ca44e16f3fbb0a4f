use crate::codec::{Reader, vec24};
use crate::{CertificateCompressionAlgorithm, Error, codec};

/// A Certificate message under compression (RFC 8879, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedCertificate<'a> {
    /// How it is compressed.
    pub algorithm: CertificateCompressionAlgorithm,
    /// The length of the Certificate message's body, in bytes, as the peer claims it: 24 bits.
    pub uncompressed_length: u32,
    /// The compressed body; not empty.
    pub compressed: &'a [u8],
}

impl<'a> CompressedCertificate<'a> {
    /// Reads a whole body.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let certificate = CompressedCertificate {
            algorithm: CertificateCompressionAlgorithm(reader.u16()?),
            uncompressed_length: reader.u24()?,
            compressed: codec::non_empty(reader.vec24()?)?,
        };
        reader.finish()?;
        Ok(certificate)
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u16(out, self.algorithm.0);
        codec::u24(out, self.uncompressed_length);
        vec24(out, |out| out.extend_from_slice(self.compressed));
    }
}
