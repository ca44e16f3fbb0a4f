use std::fmt;

use crate::{ContentType, ExtensionType, ProtocolVersion};

/// Why bytes are not the structure they were taken for.
///
/// Whoever answers the peer sends `decode_error` for the structural ones and `illegal_parameter` for
/// [`Error::Illegal`] (RFC 9846, section 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes end inside a field.
    Truncated,
    /// Bytes are left over after the last field.
    TrailingData,
    /// A record is longer than any version of TLS allows (RFC 5246, section 6.2.3).
    Oversized,
    /// A vector's length is outside the bounds that its definition gives, or no multiple of its element's size.
    BadLength,
    /// An extension occurs twice in one message (RFC 9846, section 4.3).
    DuplicateExtension(ExtensionType),
    /// A record of a type that TLS 1.2 and 1.3 do not have: most likely the peer does not speak TLS.
    UnknownContentType(ContentType),
    /// A record whose version is not 3.x.
    UnknownRecordVersion(ProtocolVersion),
    /// A field has a value that its definition forbids; the text says which.
    Illegal(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Truncated => f.write_str("the message ends inside a field"),
            Error::TrailingData => f.write_str("bytes are left over after the last field"),
            Error::Oversized => f.write_str("the record is longer than TLS allows"),
            Error::BadLength => f.write_str("a vector's length is out of its bounds"),
            Error::DuplicateExtension(extension) => write!(f, "the extension {extension} occurs twice"),
            Error::UnknownContentType(content_type) => {
                write!(f, "not a TLS record: content type {content_type}")
            }
            Error::UnknownRecordVersion(version) => write!(f, "not a TLS record: version {version}"),
            Error::Illegal(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}
