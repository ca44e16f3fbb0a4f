use crate::codec::{Reader, vec8};
use crate::{Error, List16, ProtocolVersion, codec};

/// The versions that a client offers (RFC 9846, section 4.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SupportedVersions<'a> {
    /// The versions, the preferred one first; not empty.
    pub versions: List16<'a, ProtocolVersion>,
}

impl<'a> SupportedVersions<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| {
            Ok(SupportedVersions { versions: List16::from_bytes(codec::non_empty(reader.vec8()?)?)? })
        })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.versions.as_bytes()));
    }

    /// Appends the data with these versions.
    pub fn encode(versions: &[ProtocolVersion], out: &mut Vec<u8>) {
        vec8(out, |out| List16::encode(versions, out));
    }
}

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
