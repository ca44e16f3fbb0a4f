use crate::codec::{Reader, vec16};
use crate::{Error, List16, NamedGroup, codec};

/// The groups that the sender can use (RFC 9846, section 4.3.7; RFC 8422, section 5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SupportedGroups<'a> {
    /// The groups, the preferred one first; not empty.
    pub groups: List16<'a, NamedGroup>,
}

impl<'a> SupportedGroups<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(SupportedGroups { groups: List16::from_bytes(codec::non_empty(reader.vec16()?)?)? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.groups.as_bytes()));
    }

    /// Appends the data with these groups.
    pub fn encode(groups: &[NamedGroup], out: &mut Vec<u8>) {
        vec16(out, |out| List16::encode(groups, out));
    }
}
