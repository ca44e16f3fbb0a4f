use crate::codec::{Reader, vec16};
use crate::{Element, Error, List, codec};

/// The name under which the client knows the server; the server answers with [`Empty`](super::Empty) (RFC 6066,
/// section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerNameList<'a> {
    /// The names; not empty.
    pub names: List<'a, ServerNameEntry<'a>>,
}

impl<'a> ServerNameList<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(ServerNameList { names: List::from_bytes(codec::non_empty(reader.vec16()?)?)? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.names.as_bytes()));
    }

    /// Appends the data with these names.
    pub fn encode(names: impl IntoIterator<Item = ServerNameEntry<'a>>, out: &mut Vec<u8>) {
        vec16(out, |out| List::encode(names, out));
    }

    /// The host name: ASCII, without a trailing dot, if the client keeps to the RFC.
    pub fn host_name(&self) -> Option<&'a [u8]> {
        self.names.iter().find(|name| name.name_type == ServerNameEntry::HOST_NAME).map(|name| name.name)
    }
}

/// A name and its type. No type but `host_name` was ever defined, and servers take any other to be framed alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerNameEntry<'a> {
    /// 0 for `host_name`.
    pub name_type: u8,
    /// The name; not empty.
    pub name: &'a [u8],
}

impl<'a> ServerNameEntry<'a> {
    /// The type of a DNS host name.
    pub const HOST_NAME: u8 = 0;

    /// A DNS host name.
    pub const fn host_name(name: &'a [u8]) -> Self {
        ServerNameEntry { name_type: Self::HOST_NAME, name }
    }
}

impl<'a> Element<'a> for ServerNameEntry<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        Ok(ServerNameEntry { name_type: reader.u8()?, name: codec::non_empty(reader.vec16()?)? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        codec::u8(out, self.name_type);
        vec16(out, |out| out.extend_from_slice(self.name));
    }
}
