use crate::codec::Reader;
use crate::{Error, ProtocolVersion, codec};

/// The version that a server chose, in a ServerHello or a HelloRetryRequest (RFC 9846, section 4.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectedVersion {
    /// The version.
    pub selected_version: ProtocolVersion,
}

impl SelectedVersion {
    /// Reads the data.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(SelectedVersion { selected_version: ProtocolVersion(reader.u16()?) }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u16(out, self.selected_version.0);
    }
}
