use crate::codec::{Reader, vec8, vec16};
use crate::{Error, NamedGroup, SignatureScheme, codec};

/// The server's signed half of an ECDHE key exchange (RFC 8422, section 5.4).
///
/// ```text
/// +------------+-------+-----+--------+--------+-----+-----------+
/// | 3 (named)  | group | len | public | scheme | len | signature |
/// +------------+-------+-----+--------+--------+-----+-----------+
///  `---------- params_raw ----------'
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerKeyExchangeEcdhe<'a> {
    /// The group chosen.
    pub group: NamedGroup,
    /// The server's public point; not empty.
    pub public: &'a [u8],
    /// The parameters as they came: what the signature covers, behind the two randoms. Not used by `emit`.
    pub params_raw: &'a [u8],
    /// How it is signed.
    pub scheme: SignatureScheme,
    /// The signature over the client's random, the server's, and the parameters.
    pub signature: &'a [u8],
}

/// `ECCurveType.named_curve`, the only one not deprecated (RFC 8422, section 5.4).
const NAMED_CURVE: u8 = 3;

impl<'a> ServerKeyExchangeEcdhe<'a> {
    /// Reads a whole body; explicit curves are [`Error::Illegal`].
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        if reader.u8()? != NAMED_CURVE {
            return Err(Error::Illegal("ServerKeyExchange has a curve that is not named"));
        }
        let group = NamedGroup(reader.u16()?);
        let public = codec::non_empty(reader.vec8()?)?;
        let params_raw = reader.read_since(Reader::new(body));
        let scheme = SignatureScheme(reader.u16()?);
        let signature = reader.vec16()?;
        reader.finish()?;
        Ok(ServerKeyExchangeEcdhe { group, public, params_raw, scheme, signature })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        Self::emit_params(self.group, self.public, out);
        codec::u16(out, self.scheme.0);
        vec16(out, |out| out.extend_from_slice(self.signature));
    }

    /// Appends the parameters alone: what a server signs.
    pub fn emit_params(group: NamedGroup, public: &[u8], out: &mut Vec<u8>) {
        codec::u8(out, NAMED_CURVE);
        codec::u16(out, group.0);
        vec8(out, |out| out.extend_from_slice(public));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signed_bytes_are_the_parameters() {
        let body = [3, 0, 29, 2, 0xaa, 0xbb, 8, 4, 0, 1, 0x55];
        let message = ServerKeyExchangeEcdhe::parse(&body).unwrap();
        assert_eq!(message.params_raw, &[3, 0, 29, 2, 0xaa, 0xbb]);
        assert_eq!(message.group, NamedGroup::X25519);
        assert_eq!(message.signature, &[0x55]);
    }

    #[test]
    fn explicit_curves_are_refused() {
        let refused = ServerKeyExchangeEcdhe::parse(&[1, 0, 29, 1, 0, 8, 4, 0, 0]);
        assert_eq!(refused, Err(Error::Illegal("ServerKeyExchange has a curve that is not named")));
    }
}
