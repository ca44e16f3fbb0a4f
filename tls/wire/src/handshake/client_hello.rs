use crate::codec::{Reader, vec8, vec16};
use crate::{CipherSuite, Error, ExtensionType, Extensions, List16, ProtocolVersion, codec};

/// The client's offer (RFC 9846, section 4.2.2; RFC 5246, section 7.4.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientHello<'a> {
    /// The highest version offered, up to TLS 1.2; `supported_versions` overrides it.
    pub legacy_version: ProtocolVersion,
    /// 32 fresh random bytes.
    pub random: &'a [u8; 32],
    /// The session to resume under TLS 1.2, a random echo under TLS 1.3: at most 32 bytes.
    pub session_id: &'a [u8],
    /// The suites offered, the preferred one first.
    pub cipher_suites: List16<'a, CipherSuite>,
    /// The compression methods offered: `[0]`, nothing else, in practice.
    pub compression_methods: &'a [u8],
    /// The extensions; `None` where the field is absent altogether, as TLS 1.2 allows.
    pub extensions: Option<Extensions<'a>>,
}

impl<'a> ClientHello<'a> {
    /// Reads a whole body. Refuses a `pre_shared_key` that is not the last extension, since its binders cover all
    /// that precedes them (RFC 9846, section 4.3.11).
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let hello = ClientHello {
            legacy_version: ProtocolVersion(reader.u16()?),
            random: reader.array()?,
            session_id: session_id(&mut reader)?,
            cipher_suites: List16::from_bytes(codec::non_empty(reader.vec16()?)?)?,
            compression_methods: codec::non_empty(reader.vec8()?)?,
            extensions: Extensions::read_optional(&mut reader)?,
        };
        reader.finish()?;
        match hello.extensions {
            Some(extensions) if psk_before_another(extensions) => {
                Err(Error::Illegal("pre_shared_key is not the last extension"))
            }
            _ => Ok(hello),
        }
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u16(out, self.legacy_version.0);
        out.extend_from_slice(self.random);
        vec8(out, |out| out.extend_from_slice(self.session_id));
        vec16(out, |out| out.extend_from_slice(self.cipher_suites.as_bytes()));
        vec8(out, |out| out.extend_from_slice(self.compression_methods));
        if let Some(extensions) = self.extensions {
            extensions.emit(out);
        }
    }
}

/// `opaque legacy_session_id<0..32>`, in both hellos.
pub(super) fn session_id<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let session_id = reader.vec8()?;
    if session_id.len() > 32 { Err(Error::BadLength) } else { Ok(session_id) }
}

fn psk_before_another(extensions: Extensions<'_>) -> bool {
    extensions.iter().skip_while(|&(extension, _)| extension != ExtensionType::PRE_SHARED_KEY).nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExtensionsBuilder;

    fn hello_with(extensions: Extensions<'_>) -> Vec<u8> {
        let mut body = Vec::new();
        ClientHello {
            legacy_version: ProtocolVersion::TLS_1_2,
            random: &[7; 32],
            session_id: &[],
            cipher_suites: List16::from_bytes(&[0x13, 0x01]).unwrap(),
            compression_methods: &[0],
            extensions: Some(extensions),
        }
        .emit(&mut body);
        body
    }

    #[test]
    fn pre_shared_key_stands_last() {
        let mut last = ExtensionsBuilder::new();
        last.push(ExtensionType::COOKIE, |_| ()).push(ExtensionType::PRE_SHARED_KEY, |_| ());
        assert!(ClientHello::parse(&hello_with(last.view())).is_ok());

        let mut first = ExtensionsBuilder::new();
        first.push(ExtensionType::PRE_SHARED_KEY, |_| ()).push(ExtensionType::COOKIE, |_| ());
        let body = hello_with(first.view());
        let refused = ClientHello::parse(&body);
        assert_eq!(refused, Err(Error::Illegal("pre_shared_key is not the last extension")));
    }

    #[test]
    fn absent_extensions_are_not_empty_extensions() {
        let mut absent = hello_with(Extensions::default());
        assert_eq!(ClientHello::parse(&absent).unwrap().extensions, Some(Extensions::default()));
        absent.truncate(absent.len() - 2);
        assert_eq!(ClientHello::parse(&absent).unwrap().extensions, None);
    }

    #[test]
    fn a_session_id_has_at_most_32_bytes() {
        let body = [&[3, 3][..], &[7; 32], &[33], &[9; 33], &[0, 2, 0x13, 1, 1, 0]].concat();
        assert_eq!(ClientHello::parse(&body), Err(Error::BadLength));
    }
}
