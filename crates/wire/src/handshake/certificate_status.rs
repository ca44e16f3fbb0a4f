use crate::codec::{Reader, vec24};
use crate::{Error, codec};

/// A stapled answer on revocation: a message of its own in TLS 1.2 (RFC 6066, section 8), the content of
/// `status_request` in a certificate's entry in TLS 1.3 (RFC 8446, section 4.4.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateStatus<'a> {
    /// 1 for `ocsp`, 2 for `ocsp_multi` (RFC 6961).
    pub status_type: u8,
    /// The OCSP response in DER, or the list of them; not empty.
    pub response: &'a [u8],
}

impl<'a> CertificateStatus<'a> {
    /// The type of a single OCSP response.
    pub const OCSP: u8 = 1;

    /// Reads a whole body.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let status = CertificateStatus { status_type: reader.u8()?, response: codec::non_empty(reader.vec24()?)? };
        reader.finish()?;
        Ok(status)
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u8(out, self.status_type);
        vec24(out, |out| out.extend_from_slice(self.response));
    }
}
