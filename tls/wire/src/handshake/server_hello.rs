use super::client_hello::session_id;
use crate::codec::{Reader, vec8};
use crate::{CipherSuite, Error, Extensions, ProtocolVersion, codec};

/// The random of a ServerHello that is a HelloRetryRequest: SHA-256 of that name (RFC 9846, section 4.2.3).
pub const HELLO_RETRY_REQUEST_RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16,
    0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// The last bytes of the random of a server that speaks TLS 1.3 but negotiated TLS 1.2 (RFC 9846, section 4.2.3).
pub const DOWNGRADE_TLS12: [u8; 8] = *b"DOWNGRD\x01";

/// Likewise of one that negotiated TLS 1.1 or below.
pub const DOWNGRADE_TLS11: [u8; 8] = *b"DOWNGRD\x00";

/// The server's choice, or its HelloRetryRequest (RFC 9846, section 4.2.3; RFC 5246, section 7.4.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerHello<'a> {
    /// The version chosen, up to TLS 1.2; `supported_versions` overrides it.
    pub legacy_version: ProtocolVersion,
    /// 32 random bytes, some of which may be a sentinel.
    pub random: &'a [u8; 32],
    /// The session under TLS 1.2, the client's own bytes under TLS 1.3: at most 32.
    pub session_id: &'a [u8],
    /// The suite chosen.
    pub cipher_suite: CipherSuite,
    /// The compression method chosen: 0.
    pub compression_method: u8,
    /// The extensions; `None` where the field is absent altogether, as TLS 1.2 allows.
    pub extensions: Option<Extensions<'a>>,
}

impl<'a> ServerHello<'a> {
    /// Reads a whole body.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(body, |reader| {
            Ok(ServerHello {
                legacy_version: ProtocolVersion(reader.u16()?),
                random: reader.array()?,
                session_id: session_id(reader)?,
                cipher_suite: CipherSuite(reader.u16()?),
                compression_method: reader.u8()?,
                extensions: Extensions::read_optional(reader)?,
            })
        })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u16(out, self.legacy_version.0);
        out.extend_from_slice(self.random);
        vec8(out, |out| out.extend_from_slice(self.session_id));
        codec::u16(out, self.cipher_suite.0);
        codec::u8(out, self.compression_method);
        if let Some(extensions) = self.extensions {
            extensions.emit(out);
        }
    }

    /// Whether this is a HelloRetryRequest: so says the random alone.
    pub fn is_hello_retry_request(&self) -> bool {
        *self.random == HELLO_RETRY_REQUEST_RANDOM
    }

    /// The version that a downgrade sentinel in the random admits to, at most; `None` without a sentinel. A client
    /// that offered more than that version has been tampered with (RFC 9846, section 4.2.3).
    pub fn downgrade_sentinel(&self) -> Option<ProtocolVersion> {
        match *self.random.last_chunk::<8>()? {
            DOWNGRADE_TLS12 => Some(ProtocolVersion::TLS_1_2),
            DOWNGRADE_TLS11 => Some(ProtocolVersion::TLS_1_1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_random(random: &[u8; 32]) -> ServerHello<'_> {
        ServerHello {
            legacy_version: ProtocolVersion::TLS_1_2,
            random,
            session_id: &[],
            cipher_suite: CipherSuite::TLS_AES_128_GCM_SHA256,
            compression_method: 0,
            extensions: None,
        }
    }

    #[test]
    fn the_random_tells_a_retry_request() {
        assert!(with_random(&HELLO_RETRY_REQUEST_RANDOM).is_hello_retry_request());
        assert!(!with_random(&[0; 32]).is_hello_retry_request());
    }

    #[test]
    fn the_last_bytes_of_the_random_tell_a_downgrade() {
        let mut random = [0; 32];
        assert_eq!(with_random(&random).downgrade_sentinel(), None);
        random[24..].copy_from_slice(&DOWNGRADE_TLS12);
        assert_eq!(with_random(&random).downgrade_sentinel(), Some(ProtocolVersion::TLS_1_2));
        random[24..].copy_from_slice(&DOWNGRADE_TLS11);
        assert_eq!(with_random(&random).downgrade_sentinel(), Some(ProtocolVersion::TLS_1_1));
    }
}
