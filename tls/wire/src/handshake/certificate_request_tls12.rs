use crate::codec::{Reader, vec8, vec16};
use crate::extensions::DistinguishedName;
use crate::{Error, List, List16, SignatureScheme, codec};

/// The server asks for the client's certificate (RFC 5246, section 7.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateRequestTls12<'a> {
    /// The kinds of key that will do: 1 for RSA, 64 for ECDSA. Source: IANA, TLS ClientCertificateType Identifiers.
    pub certificate_types: &'a [u8],
    /// What the server can verify, the preferred one first.
    pub signature_schemes: List16<'a, SignatureScheme>,
    /// The authorities that the server trusts; empty: any.
    pub authorities: List<'a, DistinguishedName<'a>>,
}

impl<'a> CertificateRequestTls12<'a> {
    /// Reads a whole body.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(body, |reader| {
            Ok(CertificateRequestTls12 {
                certificate_types: codec::non_empty(reader.vec8()?)?,
                signature_schemes: List16::from_bytes(codec::non_empty(reader.vec16()?)?)?,
                authorities: List::from_bytes(reader.vec16()?)?,
            })
        })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.certificate_types));
        vec16(out, |out| out.extend_from_slice(self.signature_schemes.as_bytes()));
        vec16(out, |out| out.extend_from_slice(self.authorities.as_bytes()));
    }
}
