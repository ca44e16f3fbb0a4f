use crate::codec::{Reader, vec16};
use crate::{Element, Error, List, NamedGroup, codec};

/// `key_share` in a ClientHello (RFC 9846, section 4.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyShareClientHello<'a> {
    /// The client's shares; none, to ask for a HelloRetryRequest.
    pub client_shares: List<'a, KeyShareEntry<'a>>,
}

impl<'a> KeyShareClientHello<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(KeyShareClientHello { client_shares: List::from_bytes(reader.vec16()?)? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.client_shares.as_bytes()));
    }

    /// Appends the data with these shares.
    pub fn encode(shares: impl IntoIterator<Item = KeyShareEntry<'a>>, out: &mut Vec<u8>) {
        vec16(out, |out| List::encode(shares, out));
    }
}

/// `key_share` in a ServerHello (RFC 9846, section 4.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyShareServerHello<'a> {
    /// The server's share, in a group of which the client sent one.
    pub server_share: KeyShareEntry<'a>,
}

impl<'a> KeyShareServerHello<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(KeyShareServerHello { server_share: KeyShareEntry::read(reader)? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        self.server_share.write(out);
    }
}

/// `key_share` in a HelloRetryRequest (RFC 9846, section 4.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyShareHelloRetryRequest {
    /// The group in which the server wants a share.
    pub selected_group: NamedGroup,
}

impl KeyShareHelloRetryRequest {
    /// Reads the data.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(KeyShareHelloRetryRequest { selected_group: NamedGroup(reader.u16()?) }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u16(out, self.selected_group.0);
    }
}

/// One side's public value in one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyShareEntry<'a> {
    /// The group.
    pub group: NamedGroup,
    /// The public value, in the group's own encoding (RFC 9846, sections 4.3.8.1 and 4.3.8.2); not empty.
    pub key_exchange: &'a [u8],
}

impl<'a> Element<'a> for KeyShareEntry<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        Ok(KeyShareEntry { group: NamedGroup(reader.u16()?), key_exchange: codec::non_empty(reader.vec16()?)? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        codec::u16(out, self.group.0);
        vec16(out, |out| out.extend_from_slice(self.key_exchange));
    }
}
