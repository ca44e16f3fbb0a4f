use crate::codec::{Reader, vec24};
use crate::{Element, Error, List, codec};

/// A certificate chain as TLS 1.2 sends it (RFC 5246, section 7.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateTls12<'a> {
    /// The chain, the peer's own certificate first; empty if a client has none.
    pub certificates: List<'a, CertificateDer<'a>>,
}

impl<'a> CertificateTls12<'a> {
    /// Reads a whole body; the framing of every certificate is checked.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(body, |reader| Ok(CertificateTls12 { certificates: List::from_bytes(reader.vec24()?)? }))
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec24(out, |out| out.extend_from_slice(self.certificates.as_bytes()));
    }

    /// The certificates in DER, the peer's own first.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
        self.certificates.iter().map(|certificate| certificate.0)
    }
}

/// One certificate in DER, not empty (`ASN.1Cert`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateDer<'a>(pub &'a [u8]);

impl<'a> Element<'a> for CertificateDer<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        codec::non_empty(reader.vec24()?).map(CertificateDer)
    }

    fn write(&self, out: &mut Vec<u8>) {
        vec24(out, |out| out.extend_from_slice(self.0));
    }
}
