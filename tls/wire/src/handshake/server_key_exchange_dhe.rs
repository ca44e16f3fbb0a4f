use crate::codec::{Reader, vec16};
use crate::{Error, SignatureScheme, codec};

/// The server's signed half of a finite-field key exchange (RFC 5246, section 7.4.3): recognised, so that the size
/// of its group can be told; not spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerKeyExchangeDhe<'a> {
    /// The prime modulus; not empty.
    pub p: &'a [u8],
    /// The generator; not empty.
    pub g: &'a [u8],
    /// The server's public value; not empty.
    pub public: &'a [u8],
    /// The parameters as they came: what the signature covers, behind the two randoms. Not used by `emit`.
    pub params_raw: &'a [u8],
    /// How it is signed.
    pub scheme: SignatureScheme,
    /// The signature over the client's random, the server's, and the parameters.
    pub signature: &'a [u8],
}

impl<'a> ServerKeyExchangeDhe<'a> {
    /// Reads a whole body.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let p = codec::non_empty(reader.vec16()?)?;
        let g = codec::non_empty(reader.vec16()?)?;
        let public = codec::non_empty(reader.vec16()?)?;
        let params_raw = reader.read_since(Reader::new(body));
        let scheme = SignatureScheme(reader.u16()?);
        let signature = reader.vec16()?;
        reader.finish()?;
        Ok(ServerKeyExchangeDhe { p, g, public, params_raw, scheme, signature })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        for parameter in [self.p, self.g, self.public] {
            vec16(out, |out| out.extend_from_slice(parameter));
        }
        codec::u16(out, self.scheme.0);
        vec16(out, |out| out.extend_from_slice(self.signature));
    }
}
