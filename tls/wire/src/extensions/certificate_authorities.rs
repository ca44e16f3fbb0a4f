use crate::codec::{Reader, vec16};
use crate::{Element, Error, List, codec};

/// The authorities whose certificates will do (RFC 9846, section 4.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateAuthorities<'a> {
    /// Their names; not empty.
    pub authorities: List<'a, DistinguishedName<'a>>,
}

impl<'a> CertificateAuthorities<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| {
            Ok(CertificateAuthorities { authorities: List::from_bytes(codec::non_empty(reader.vec16()?)?)? })
        })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.authorities.as_bytes()));
    }
}

/// An X.501 name in DER, not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistinguishedName<'a>(pub &'a [u8]);

impl<'a> Element<'a> for DistinguishedName<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        codec::non_empty(reader.vec16()?).map(DistinguishedName)
    }

    fn write(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.0));
    }
}
