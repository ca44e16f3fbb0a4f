use crate::codec::{Reader, vec24};
use crate::{Element, Error, Extensions, codec};

/// One certificate of a TLS 1.3 chain, with what belongs to it (RFC 9846, section 4.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateEntry<'a> {
    /// The certificate in DER, or a raw public key where that was negotiated; not empty.
    pub cert_data: &'a [u8],
    /// What was asked for beside it: a stapled OCSP response, certificate timestamps.
    pub extensions: Extensions<'a>,
}

impl<'a> Element<'a> for CertificateEntry<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        Ok(CertificateEntry { cert_data: codec::non_empty(reader.vec24()?)?, extensions: Extensions::read(reader)? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        vec24(out, |out| out.extend_from_slice(self.cert_data));
        self.extensions.emit(out);
    }
}
