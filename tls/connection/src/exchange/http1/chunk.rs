//! Chunked bodies (RFC 9112 §7.1), byte by byte but for the data.

use super::{MAX_HEAD, bad_framing};
use crate::fault::Fault;

/// The part of a chunked body that comes next (RFC 9112 §7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// A digit of the size, once there is one; `None` before.
    Size(Option<u64>),
    /// More of the line after the size, of which so many bytes have come.
    Extension { size: u64, length: usize },
    /// The line feed after the size.
    SizeEnd(u64),
    /// So many bytes of data.
    Data(u64),
    /// The carriage return after the data.
    DataReturn,
    /// The line feed after the data.
    DataEnd,
    /// A line of the trailer section, of which so many bytes have come.
    Trailer { line: Line, length: usize },
}

/// What has come of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Empty,
    /// A carriage return and nothing else.
    Return,
    Text,
}

impl Chunk {
    /// What comes after this byte, which is none of the data; `None` for the end of the body. Only fields may end without a
    /// carriage return (RFC 9112 §2.2).
    pub(super) fn next(self, byte: u8) -> Result<Option<Self>, Fault> {
        Ok(Some(match (self, byte) {
            (Self::Size(size), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                let size = size.unwrap_or_default().checked_mul(16).ok_or(bad_framing())?;
                Self::Size(Some(size + u64::from(digit)))
            }
            (Self::Size(Some(size)), b';' | b' ' | b'\t') => Self::Extension { size, length: 0 },
            (Self::Size(Some(size)) | Self::Extension { size, .. }, b'\r') => Self::SizeEnd(size),
            (Self::Extension { size, length }, _) if byte != b'\n' && length < MAX_HEAD => {
                Self::Extension { size, length: length + 1 }
            }
            (Self::SizeEnd(0), b'\n') => Self::Trailer { line: Line::Empty, length: 0 },
            (Self::SizeEnd(size), b'\n') => Self::Data(size),
            (Self::DataReturn, b'\r') => Self::DataEnd,
            (Self::DataEnd, b'\n') => Self::Size(None),
            (Self::Trailer { line: Line::Empty | Line::Return, .. }, b'\n') => return Ok(None),
            (Self::Trailer { line, length }, _) if length < MAX_HEAD => {
                let line = match (line, byte) {
                    (Line::Return, _) => return Err(bad_framing()),
                    (_, b'\n') => Line::Empty,
                    (Line::Empty, b'\r') => Line::Return,
                    _ => Line::Text,
                };
                Self::Trailer { line, length: length + 1 }
            }
            _ => return Err(bad_framing()),
        }))
    }
}
