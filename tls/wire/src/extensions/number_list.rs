use crate::codec::{Reader, vec8, vec16};
use crate::{CertificateCompressionAlgorithm, Error, List16, NamedGroup, ProtocolVersion, SignatureScheme, codec};

/// A list of registered numbers behind its length, which takes `LENGTH` bytes: 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberList<'a, T: From<u16> + Into<u16> + Copy + PartialEq, const LENGTH: usize> {
    /// The numbers, the preferred one first; not empty.
    pub values: List16<'a, T>,
}

/// The groups that the sender can use (RFC 9846, section 4.3.7; RFC 8422, section 5.1.1).
pub type SupportedGroups<'a> = NumberList<'a, NamedGroup, 2>;

/// The signatures that the sender can verify: `signature_algorithms`, and of the same form for those in certificates
/// `signature_algorithms_cert` (RFC 9846, section 4.3.3).
pub type SignatureAlgorithms<'a> = NumberList<'a, SignatureScheme, 2>;

/// The versions that a client offers (RFC 9846, section 4.3.1).
pub type SupportedVersions<'a> = NumberList<'a, ProtocolVersion, 1>;

/// The compressions that the sender can undo (RFC 8879, section 3).
pub type CompressCertificate<'a> = NumberList<'a, CertificateCompressionAlgorithm, 1>;

impl<'a, T: From<u16> + Into<u16> + Copy + PartialEq, const LENGTH: usize> NumberList<'a, T, LENGTH> {
    /// Reads the data.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        Reader::whole(data, |reader| {
            let numbers = if LENGTH == 1 { reader.vec8()? } else { reader.vec16()? };
            Ok(Self { values: List16::from_bytes(codec::non_empty(numbers)?)? })
        })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        Self::emit_list(out, |out| out.extend_from_slice(self.values.as_bytes()));
    }

    /// Appends the data with these numbers.
    pub fn encode(values: &[T], out: &mut Vec<u8>) {
        Self::emit_list(out, |out| List16::encode(values, out));
    }

    fn emit_list(out: &mut Vec<u8>, numbers: impl FnOnce(&mut Vec<u8>)) {
        if LENGTH == 1 { vec8(out, numbers) } else { vec16(out, numbers) }
    }
}
