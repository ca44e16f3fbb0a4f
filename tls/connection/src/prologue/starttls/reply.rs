//! The replies that SMTP (RFC 5321 §4.2) and FTP (RFC 959 §4.2) have in common: a code of three digits and a text, on
//! one line or on several.

use crate::prologue::Problem;
use crate::prologue::dialogue::{Length, Turn, Unexpected};

/// How long the reply is. `250-` begins one of several lines; it ends with the line that begins with `250 `.
///
/// # Errors
/// [`Unexpected`] if it does not begin as a reply does.
pub fn length(heard: &[u8]) -> Length {
    let mut code = None;
    let mut length = 0;
    for line in heard.split_inclusive(|&byte| byte == b'\n') {
        if code.is_none() && !could_begin(line) {
            return Err(Unexpected);
        }
        if !line.ends_with(b"\n") {
            break;
        }
        length += line.len();
        let first = *code.get_or_insert(line.get(..3).unwrap_or_default());
        let is_last = line.starts_with(first) && line.get(3) != Some(&b'-');
        if is_last {
            return Ok(Some(length));
        }
    }
    Ok(None)
}

/// The code, once the reply is whole.
pub fn code(reply: &[u8]) -> Option<u16> {
    std::str::from_utf8(reply.get(..3)?).ok()?.parse().ok()
}

/// A refusal with its code and words.
pub(super) fn refused(reply: &[u8]) -> Turn {
    Turn::Fail(Problem::Refused { code: code(reply), said: reply.to_vec() })
}

/// Whether a reply says this word alone, or first on a line: `250-STARTTLS`.
pub(super) fn lists(reply: &[u8], keyword: &str) -> bool {
    reply.split(|&byte| byte == b'\n').filter_map(|line| line.get(4..)).any(|text| {
        let word = text.trim_ascii().split(u8::is_ascii_whitespace).next().unwrap_or_default();
        word.eq_ignore_ascii_case(keyword.as_bytes())
    })
}

fn could_begin(line: &[u8]) -> bool {
    line.iter().take(4).enumerate().all(|(at, &byte)| match at {
        0 => (b'1'..=b'5').contains(&byte),
        1 | 2 => byte.is_ascii_digit(),
        _ => matches!(byte, b' ' | b'-' | b'\r' | b'\n'),
    })
}
