//! DNS over TLS (RFC 7858), as a service that has a question and answers it.

use crate::prologue::{Dialogue, Length, Message, Service, Turn, Unexpected};

/// What names DNS over TLS in ALPN (IANA, TLS ALPN Protocol IDs). Most servers choose no protocol, and answer all the same.
pub const ALPN: &[u8] = b"dot";

/// The address of `localhost`, behind the length of the message: a resolver answers it by itself (RFC 6761 §6.3).
const QUERY: [u8; 29] = *b"\0\x1b\x72\x70\x01\0\0\x01\0\0\0\0\0\0\x09localhost\0\0\x01\0\x01";

/// A length, and a header (RFC 1035 §4.1.1).
const LEAST_ANSWER: usize = 2 + 12;

/// The first bit of the flags: a response.
const IS_RESPONSE: u8 = 0x80;

/// Any response code is an answer.
pub(super) struct Dns;

impl Dialogue for Dns {
    fn length(&self, _due: Message, heard: &[u8]) -> Length {
        let [high, low, rest @ ..] = heard else { return Ok(None) };
        let length = 2 + usize::from(u16::from_be_bytes([*high, *low]));
        let is_response = rest.get(2).is_none_or(|flags| flags & IS_RESPONSE != 0);
        let is_ours = rest.iter().zip(&QUERY[2..4]).all(|(it, ours)| it == ours);
        if length < LEAST_ANSWER || !is_ours || !is_response {
            return Err(Unexpected);
        }
        Ok((heard.len() >= length).then_some(length))
    }

    fn answer(&self, _due: Message, _message: &[u8]) -> Turn {
        Turn::Done
    }
}

impl Service for Dns {
    fn question(&self) -> Vec<u8> {
        QUERY.to_vec()
    }

    fn farewell(&self, _answer: &[u8]) -> Vec<u8> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_counts_its_own_length() {
        assert_eq!(usize::from(u16::from_be_bytes([QUERY[0], QUERY[1]])), QUERY.len() - 2);
    }

    #[test]
    fn an_answer_is_the_response_to_this_query() {
        let length = |heard: &[u8]| Dns.length(Message::Answer, heard);
        // As long as a header, refused.
        let refused = b"\0\x0c\x72\x70\x81\x05\0\0\0\0\0\0\0\0";
        for end in 0..refused.len() {
            assert_eq!(length(&refused[..end]), Ok(None), "{end}");
        }
        assert_eq!(length(refused), Ok(Some(14)));
        for bytes in [&b"HTTP/1.1 400"[..], b"\0\x0b", &QUERY, b"\0\x0c\x72\x71"] {
            assert_eq!(length(bytes), Err(Unexpected), "{bytes:?}");
        }
    }
}
