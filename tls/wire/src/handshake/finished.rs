use crate::Error;

/// The proof that both sides saw the same handshake (RFC 9846, section 4.5.3; RFC 5246, section 7.4.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished<'a> {
    /// As long as the hash in TLS 1.3, 12 bytes in TLS 1.2: the whole body, without a length of its own.
    pub verify_data: &'a [u8],
}

impl<'a> Finished<'a> {
    /// Takes a whole body; how long it must be is for who knows the suite to say.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Ok(Finished { verify_data: body })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.verify_data);
    }
}
