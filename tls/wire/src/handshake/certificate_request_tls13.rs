use crate::codec::{Reader, vec8};
use crate::{Error, Extensions};

/// The server asks for the client's certificate (RFC 9846, section 4.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateRequestTls13<'a> {
    /// To be echoed in the answer; empty during the handshake.
    pub context: &'a [u8],
    /// Which certificates will do: `signature_algorithms`, `certificate_authorities` and others.
    pub extensions: Extensions<'a>,
}

impl<'a> CertificateRequestTls13<'a> {
    /// Reads a whole body.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(body, |reader| {
            Ok(CertificateRequestTls13 { context: reader.vec8()?, extensions: Extensions::read(reader)? })
        })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.context));
        self.extensions.emit(out);
    }
}
