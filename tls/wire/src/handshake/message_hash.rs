use crate::Error;

/// Stands for the first ClientHello in the transcript after a HelloRetryRequest, and is never sent (RFC 9846,
/// section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageHash<'a> {
    /// The hash of the ClientHello it replaces: the whole body.
    pub hash: &'a [u8],
}

impl<'a> MessageHash<'a> {
    /// Takes a whole body.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Ok(MessageHash { hash: body })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.hash);
    }
}
