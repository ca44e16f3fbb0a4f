use crate::codec::{Reader, vec8, vec16};
use crate::{Element, Error, List, codec};

/// `pre_shared_key` in a ClientHello, always its last extension (RFC 9846, section 4.3.11).
///
/// ```text
/// +-----+------------+-----+---------+
/// | len | identities | len | binders |
/// +-----+------------+-----+---------+
///                    `- binders_len -'   the end of the ClientHello
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferedPsks<'a> {
    /// The PSKs offered, the preferred one first; not empty.
    pub identities: List<'a, PskIdentity<'a>>,
    /// A proof of possession for each.
    pub binders: List<'a, PskBinder<'a>>,
}

impl<'a> OfferedPsks<'a> {
    /// Reads the data. That there is one binder for each identity is checked too.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(data);
        let offered = OfferedPsks {
            identities: List::from_bytes(codec::non_empty(reader.vec16()?)?)?,
            binders: List::from_bytes(codec::non_empty(reader.vec16()?)?)?,
        };
        reader.finish()?;
        if offered.identities.len() == offered.binders.len() {
            Ok(offered)
        } else {
            Err(Error::Illegal("pre_shared_key has not one binder for each identity"))
        }
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.identities.as_bytes()));
        vec16(out, |out| out.extend_from_slice(self.binders.as_bytes()));
    }

    /// Appends the data with these identities, and as many binders.
    pub fn encode(
        identities: impl IntoIterator<Item = PskIdentity<'a>>,
        binders: impl IntoIterator<Item = PskBinder<'a>>,
        out: &mut Vec<u8>,
    ) {
        vec16(out, |out| List::encode(identities, out));
        vec16(out, |out| List::encode(binders, out));
    }

    /// The bytes that a ClientHello is cut short by for what its binders sign (RFC 9846, section 4.3.11.2).
    pub fn binders_len(&self) -> usize {
        self.binders.as_bytes().len().saturating_add(2)
    }
}

/// `pre_shared_key` in a ServerHello (RFC 9846, section 4.3.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectedPsk {
    /// Which of the client's identities the server took, from 0.
    pub selected_identity: u16,
}

impl SelectedPsk {
    /// Reads the data.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(SelectedPsk { selected_identity: reader.u16()? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u16(out, self.selected_identity);
    }
}

/// A ticket, or the name of an external PSK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PskIdentity<'a> {
    /// The ticket or the name; not empty.
    pub identity: &'a [u8],
    /// The ticket's age in milliseconds plus its `age_add`, modulo 2^32; 0 for an external PSK.
    pub obfuscated_ticket_age: u32,
}

impl<'a> Element<'a> for PskIdentity<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        Ok(PskIdentity { identity: codec::non_empty(reader.vec16()?)?, obfuscated_ticket_age: reader.u32()? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.identity));
        codec::u32(out, self.obfuscated_ticket_age);
    }
}

/// An HMAC over the ClientHello up to the binders, 32 to 255 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PskBinder<'a>(pub &'a [u8]);

impl<'a> Element<'a> for PskBinder<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let binder = reader.vec8()?;
        if binder.len() < 32 { Err(Error::BadLength) } else { Ok(PskBinder(binder)) }
    }

    fn write(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_identity_has_its_binder() {
        let identity = PskIdentity { identity: b"ticket", obfuscated_ticket_age: 7 };
        let binder = PskBinder(&[1; 32]);
        let offer = |identities: usize, binders: usize| {
            let mut out = Vec::new();
            vec16(&mut out, |out| List::encode(std::iter::repeat_n(identity, identities), out));
            vec16(&mut out, |out| List::encode(std::iter::repeat_n(binder, binders), out));
            out
        };
        assert_eq!(OfferedPsks::parse(&offer(2, 2)).unwrap().binders_len(), 2 + 2 * 33);
        assert!(matches!(OfferedPsks::parse(&offer(2, 1)), Err(Error::Illegal(_))));
        assert_eq!(OfferedPsks::parse(&offer(0, 0)), Err(Error::BadLength));
    }
}
