use crate::codec::{Reader, vec8, vec16};
use crate::{Element, Error, List, codec};

/// The application protocols that a client offers (RFC 7301, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolNameList<'a> {
    /// The protocols, the preferred one first.
    pub protocols: List<'a, ProtocolName<'a>>,
}

impl<'a> ProtocolNameList<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| {
            Ok(ProtocolNameList { protocols: List::from_bytes(codec::non_empty(reader.vec16()?)?)? })
        })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.protocols.as_bytes()));
    }

    /// Appends the data with these protocols.
    pub fn encode(names: impl IntoIterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
        vec16(out, |out| List::encode(names.into_iter().map(ProtocolName), out));
    }

    /// The names, the preferred one first.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
        self.protocols.iter().map(|protocol| protocol.0)
    }
}

/// The application protocol that a server chose: a list of exactly one (RFC 7301, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectedProtocol<'a> {
    /// Its name.
    pub protocol: ProtocolName<'a>,
}

impl<'a> SelectedProtocol<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let list = ProtocolNameList::parse(data)?;
        let mut protocols = list.protocols.iter();
        match (protocols.next(), protocols.next()) {
            (Some(protocol), None) => Ok(SelectedProtocol { protocol }),
            _ => Err(Error::Illegal("the server selected more than one application protocol")),
        }
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| self.protocol.write(out));
    }
}

/// The name of an application protocol, 1 to 255 bytes: `h2`, `http/1.1`. Source: IANA, TLS ALPN Protocol IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolName<'a>(pub &'a [u8]);

impl<'a> Element<'a> for ProtocolName<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        codec::non_empty(reader.vec8()?).map(ProtocolName)
    }

    fn write(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_selects_exactly_one() {
        let one = [0, 3, 2, b'h', b'2'];
        assert_eq!(SelectedProtocol::parse(&one).unwrap().protocol, ProtocolName(b"h2"));
        assert!(matches!(SelectedProtocol::parse(&[0, 4, 1, b'a', 1, b'b']), Err(Error::Illegal(_))));
        assert_eq!(SelectedProtocol::parse(&[0, 0]), Err(Error::BadLength));
    }
}
