use crate::{ContentType, Error, ProtocolVersion, Reader, codec};

/// The bytes of a record's header: type, version, length.
pub const HEADER_LEN: usize = 5;

/// The most plaintext that a record carries (RFC 9846, section 5.1).
pub const MAX_PLAINTEXT: usize = 16384;

/// The most bytes after the header of a protected TLS 1.3 record (RFC 9846, section 5.2).
pub const MAX_CIPHERTEXT_TLS13: usize = MAX_PLAINTEXT + 256;

/// The most bytes after the header of a protected TLS 1.2 record (RFC 5246, section 6.2.3).
pub const MAX_CIPHERTEXT_TLS12: usize = MAX_PLAINTEXT + 2048;

/// A record as it stands on the wire, protected or not.
///
/// ```text
/// 0      1      3       5
/// +------+------+-------+----------+
/// | type | 3, x | length| fragment |
/// +------+------+-------+----------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// What the fragment is; `application_data` for every protected TLS 1.3 record.
    pub content_type: ContentType,
    /// The record's version, which says nothing about the version spoken (RFC 9846, section 5.1).
    pub version: ProtocolVersion,
    /// What follows the header: at most [`MAX_CIPHERTEXT_TLS12`] bytes, possibly none.
    pub fragment: &'a [u8],
}

impl<'a> Record<'a> {
    /// Reads the first record of `bytes`, and says how many bytes it took. `None`: more bytes are needed.
    ///
    /// A header that cannot be TLS is refused at its first wrong byte, so that a peer that speaks something else is
    /// found out however little it sends. The tighter bounds, for plaintext and for TLS 1.3, are the caller's: only
    /// it knows which applies.
    pub fn parse(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, Error> {
        check_header_so_far(bytes)?;
        let mut reader = Reader::new(bytes);
        match read(&mut reader) {
            Ok(record) => Ok(Some((record, bytes.len() - reader.remaining()))),
            Err(Error::Truncated) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Appends header and fragment.
    pub fn emit(&self, out: &mut Vec<u8>) {
        codec::u8(out, self.content_type.0);
        codec::u16(out, self.version.0);
        codec::vec16(out, |out| out.extend_from_slice(self.fragment));
    }
}

fn check_header_so_far(bytes: &[u8]) -> Result<(), Error> {
    let known = ContentType::CHANGE_CIPHER_SPEC..=ContentType::APPLICATION_DATA;
    if let Some(&first) = bytes.first()
        && !known.contains(&ContentType(first))
    {
        return Err(Error::UnknownContentType(ContentType(first)));
    }
    if let Some(&major) = bytes.get(1)
        && major != 3
    {
        let minor = bytes.get(2).copied().unwrap_or(0);
        return Err(Error::UnknownRecordVersion(ProtocolVersion(u16::from_be_bytes([major, minor]))));
    }
    if let Some(&[high, low]) = bytes.get(3..HEADER_LEN).and_then(|length| length.first_chunk())
        && usize::from(u16::from_be_bytes([high, low])) > MAX_CIPHERTEXT_TLS12
    {
        return Err(Error::Oversized);
    }
    Ok(())
}

fn read<'a>(reader: &mut Reader<'a>) -> Result<Record<'a>, Error> {
    Ok(Record {
        content_type: ContentType(reader.u8()?),
        version: ProtocolVersion(reader.u16()?),
        fragment: reader.vec16()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 1, 0];

    #[test]
    fn a_record_is_complete_only_with_its_last_byte() {
        for cut in 0..ALERT.len() {
            assert_eq!(Record::parse(&ALERT[..cut]), Ok(None), "{cut} bytes");
        }
        let (record, consumed) = Record::parse(&ALERT).unwrap().unwrap();
        assert_eq!(consumed, ALERT.len());
        assert_eq!(record.content_type, ContentType::ALERT);
        assert_eq!(record.fragment, &[1, 0]);
    }

    #[test]
    fn what_follows_a_record_is_left_alone() {
        let two = [ALERT, ALERT].concat();
        assert_eq!(Record::parse(&two).unwrap().unwrap().1, ALERT.len());
    }

    #[test]
    fn another_protocol_is_refused_at_its_first_byte() {
        assert_eq!(Record::parse(b"H"), Err(Error::UnknownContentType(ContentType(b'H'))));
        assert_eq!(Record::parse(&[22, 2]), Err(Error::UnknownRecordVersion(ProtocolVersion(0x0200))));
    }

    #[test]
    fn an_oversized_record_is_refused_before_it_arrives() {
        let longest = u16::try_from(MAX_CIPHERTEXT_TLS12).unwrap();
        let header = |length: u16| [&[23, 3, 3][..], &length.to_be_bytes()].concat();
        assert_eq!(Record::parse(&header(longest)), Ok(None));
        assert_eq!(Record::parse(&header(longest + 1)), Err(Error::Oversized));
    }
}
