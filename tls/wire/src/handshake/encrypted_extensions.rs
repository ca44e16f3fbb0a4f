use crate::{Error, Extensions, Reader};

/// The server's answers that no key depends on (RFC 9846, section 4.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncryptedExtensions<'a> {
    /// The extensions, possibly none.
    pub extensions: Extensions<'a>,
}

impl<'a> EncryptedExtensions<'a> {
    /// Reads a whole body.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(body, |reader| Ok(EncryptedExtensions { extensions: Extensions::read(reader)? }))
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        self.extensions.emit(out);
    }
}
