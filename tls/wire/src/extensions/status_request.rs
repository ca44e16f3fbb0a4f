use crate::codec::{Reader, vec16};
use crate::{Error, codec};

/// The client asks for a stapled answer on revocation (RFC 6066, section 8). A TLS 1.2 server announces one with
/// [`Empty`](super::Empty); a TLS 1.3 server sends the answer beside the certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusRequest<'a> {
    /// An OCSP response, please.
    Ocsp {
        /// The responders that the client trusts, as encoded; empty: any.
        responder_ids: &'a [u8],
        /// OCSP's own extensions in DER; usually empty.
        request_extensions: &'a [u8],
    },
    /// Something else, kept as it came.
    Other {
        /// Its type, not 1.
        status_type: u8,
        /// What follows the type.
        request: &'a [u8],
    },
}

impl<'a> StatusRequest<'a> {
    /// The type of a request for an OCSP response.
    pub const OCSP: u8 = 1;

    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(data);
        let status_type = reader.u8()?;
        if status_type != Self::OCSP {
            return Ok(StatusRequest::Other { status_type, request: reader.rest() });
        }
        let request = StatusRequest::Ocsp { responder_ids: reader.vec16()?, request_extensions: reader.vec16()? };
        reader.finish()?;
        Ok(request)
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match *self {
            StatusRequest::Ocsp { responder_ids, request_extensions } => {
                codec::u8(out, Self::OCSP);
                vec16(out, |out| out.extend_from_slice(responder_ids));
                vec16(out, |out| out.extend_from_slice(request_extensions));
            }
            StatusRequest::Other { status_type, request } => {
                codec::u8(out, status_type);
                out.extend_from_slice(request);
            }
        }
    }
}
