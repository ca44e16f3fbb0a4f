use crate::codec::{Reader, vec8, vec16};
use crate::{Error, codec};

/// The client's half of a TLS 1.2 key exchange (RFC 5246, section 7.4.7). The suite, not the message, says which
/// form it has: hence two ways to parse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientKeyExchange<'a> {
    /// ECDHE (RFC 8422, section 5.7).
    Ecdhe {
        /// The client's public point; not empty.
        public: &'a [u8],
    },
    /// RSA (RFC 5246, section 7.4.7.1).
    Rsa {
        /// The premaster secret under the server's key.
        encrypted: &'a [u8],
    },
}

impl<'a> ClientKeyExchange<'a> {
    /// Reads a whole body of an ECDHE suite.
    pub fn parse_ecdhe(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let public = codec::non_empty(reader.vec8()?)?;
        reader.finish()?;
        Ok(ClientKeyExchange::Ecdhe { public })
    }

    /// Reads a whole body of an RSA suite.
    pub fn parse_rsa(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let encrypted = reader.vec16()?;
        reader.finish()?;
        Ok(ClientKeyExchange::Rsa { encrypted })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match *self {
            ClientKeyExchange::Ecdhe { public } => vec8(out, |out| out.extend_from_slice(public)),
            ClientKeyExchange::Rsa { encrypted } => vec16(out, |out| out.extend_from_slice(encrypted)),
        }
    }
}
