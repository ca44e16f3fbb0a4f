use super::CertificateEntry;
use crate::codec::{Reader, vec8, vec24};
use crate::{Error, List};

/// A certificate chain as TLS 1.3 sends it (RFC 9846, section 4.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateTls13<'a> {
    /// Echoes the request's context; empty from a server.
    pub context: &'a [u8],
    /// The chain, the peer's own certificate first; empty if a client has none.
    pub entries: List<'a, CertificateEntry<'a>>,
}

impl<'a> CertificateTls13<'a> {
    /// Reads a whole body; every entry is checked.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(body, |reader| {
            Ok(CertificateTls13 { context: reader.vec8()?, entries: List::from_bytes(reader.vec24()?)? })
        })
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.context));
        vec24(out, |out| out.extend_from_slice(self.entries.as_bytes()));
    }
}
