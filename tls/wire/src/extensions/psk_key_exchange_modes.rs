use crate::codec::{Reader, vec8};
use crate::{Error, PskKeyExchangeMode, codec};

/// With which key exchanges the client will resume (RFC 9846, section 4.3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PskKeyExchangeModes<'a> {
    /// The modes, one byte each; not empty.
    pub modes: &'a [u8],
}

impl<'a> PskKeyExchangeModes<'a> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| Ok(PskKeyExchangeModes { modes: codec::non_empty(reader.vec8()?)? }))
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.modes));
    }

    /// Appends the data with these modes.
    pub fn encode(modes: impl IntoIterator<Item = PskKeyExchangeMode>, out: &mut Vec<u8>) {
        vec8(out, |out| modes.into_iter().for_each(|mode| codec::u8(out, mode.0)));
    }

    /// The modes in their order.
    pub fn iter(&self) -> impl Iterator<Item = PskKeyExchangeMode> + Clone + use<'a> {
        self.modes.iter().map(|&mode| PskKeyExchangeMode(mode))
    }
}
