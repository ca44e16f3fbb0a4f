use crate::codec::{Reader, vec8, vec16};
use crate::{Element, Error, List, codec};

/// What the client's certificate must say in its own extensions (RFC 8446, section 4.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OidFilters<'a> {
    /// The filters; may be empty.
    pub filters: List<'a, OidFilter<'a>>,
}

impl<'a> OidFilters<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(data);
        let filters = List::from_bytes(reader.vec16()?)?;
        reader.finish()?;
        Ok(OidFilters { filters })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.filters.as_bytes()));
    }
}

/// One certificate extension and the values it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OidFilter<'a> {
    /// The extension's object identifier in DER; not empty.
    pub oid: &'a [u8],
    /// The values in DER; empty: any.
    pub values: &'a [u8],
}

impl<'a> Element<'a> for OidFilter<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        Ok(OidFilter { oid: codec::non_empty(reader.vec8()?)?, values: reader.vec16()? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.oid));
        vec16(out, |out| out.extend_from_slice(self.values));
    }
}
