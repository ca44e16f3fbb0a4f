use crate::codec::{Reader, vec16};
use crate::{Error, SignatureScheme, codec};

/// Proves the key of the certificate just sent (RFC 9846, section 4.5.2; RFC 5246, section 7.4.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateVerify<'a> {
    /// How it is signed.
    pub scheme: SignatureScheme,
    /// The signature over the transcript so far.
    pub signature: &'a [u8],
}

impl<'a> CertificateVerify<'a> {
    /// Reads a whole body.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(body, |reader| {
            Ok(CertificateVerify { scheme: SignatureScheme(reader.u16()?), signature: reader.vec16()? })
        })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u16(out, self.scheme.0);
        vec16(out, |out| out.extend_from_slice(self.signature));
    }
}
