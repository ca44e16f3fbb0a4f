//! What stands in a response's head, and where the head ends.

use std::time::SystemTime;

use super::{bad_framing, said};
use crate::fault::Fault;

/// Where a head ends whose first `known` bytes hold no end. A line may end without its carriage return (RFC 9112 §2.2).
pub(super) fn end_of_head(head: &[u8], known: usize) -> Option<usize> {
    let mut line = known.saturating_sub(2);
    loop {
        let rest = head.get(line..)?;
        line += rest.iter().position(|&byte| byte == b'\n')? + 1;
        match head.get(line..) {
            Some([b'\n', ..]) => return Some(line + 1),
            Some([b'\r', b'\n', ..]) => return Some(line + 2),
            _ => {}
        }
    }
}

/// One length, however often it is said; none is none, and others than digits or two lengths are an error (RFC 9110 §8.6).
pub(super) fn content_length<'v>(values: impl Iterator<Item = &'v [u8]>) -> Result<Option<u64>, Fault> {
    let mut length = None;
    for text in values.flat_map(items) {
        let digits = Some(text).filter(|text| text.iter().all(u8::is_ascii_digit));
        let number = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
        match number.filter(|number| length.is_none_or(|known| known == *number)) {
            Some(number) => length = Some(number),
            None => return Err(bad_framing().with(said(text))),
        }
    }
    Ok(length)
}

/// The field Date in seconds since 1970 (RFC 9110 §5.6.7).
pub(super) fn unix_seconds(date: &[u8]) -> Option<u64> {
    let date = httpdate::parse_http_date(std::str::from_utf8(date).ok()?).ok()?;
    Some(date.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs())
}

/// The items of a list (RFC 9110 §5.6.1).
pub(super) fn items(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// Whether this item is that token, in whatever case.
pub(super) fn is_token(item: &[u8], token: &str) -> bool {
    item.eq_ignore_ascii_case(token.as_bytes())
}

/// Whether these first bytes may begin a response.
pub(super) fn could_be_http(head: &[u8]) -> bool {
    head.iter().zip(b"HTTP/").all(|(a, b)| a == b)
}

/// Whether these first bytes are of a final response: the status begins with the tenth, `HTTP/1.1 200`.
pub(super) fn is_final(head: &[u8]) -> bool {
    head.get(9).is_some_and(|digit| *digit != b'1')
}
