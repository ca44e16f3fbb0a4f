//! Where an HTTP/1.1 response ends (RFC 9112 §6), without keeping it.

use crate::generator::fault::Fault;

/// The longest head that is waited for.
const MAX_HEAD: usize = 32 * 1024;

/// A response while it comes. Its memory is used again.
#[derive(Default)]
pub(crate) struct Response {
    /// The part of a head that has come, where it did not come at once.
    head: Vec<u8>,
    status: u16,
    rest: Rest,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rest {
    #[default]
    Head,
    Length(u64),
    Chunked(Chunk),
    UntilClose,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    /// The size so far; `true` once its digits are over.
    Size(u64, bool),
    Data(u64),
    /// The line end after the data.
    DataEnd,
    /// The trailer; how many bytes its line has so far.
    Trailer(u32),
}

impl Response {
    pub(crate) fn clear(&mut self) {
        self.head.clear();
        self.status = 0;
        self.rest = Rest::Head;
    }

    /// Takes what has come; `true` once the response is whole. What follows it is not expected, and is refused.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<bool, Fault> {
        let body = match self.rest {
            Rest::Head => match self.take_head(bytes)? {
                None => return Ok(false),
                Some(body_at) => bytes.get(body_at..).unwrap_or_default(),
            },
            _ => bytes,
        };
        self.take_body(body)?;
        Ok(self.rest == Rest::Done)
    }

    /// The server has closed; `true` if that ends the response as it should.
    pub(crate) fn end(&mut self) -> bool {
        if self.rest == Rest::UntilClose {
            self.rest = Rest::Done;
        }
        self.rest == Rest::Done
    }

    /// The status, once the head is there.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// Where in `bytes` the body begins, once the head is whole.
    fn take_head(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        if self.head.is_empty() {
            let length = self.parse_head(bytes)?;
            if length.is_none() {
                self.head.extend_from_slice(bytes);
            }
            return Ok(length);
        }
        let before = self.head.len();
        let mut head = std::mem::take(&mut self.head);
        head.extend_from_slice(bytes);
        let length = self.parse_head(&head);
        self.head = head;
        if self.head.len() > MAX_HEAD {
            return Err(Fault::TooLarge);
        }
        Ok(length?.map(|length| length.saturating_sub(before)))
    }

    /// RFC 9110 §15.2: interim responses (100, 103) may come before the final one, whether they were asked for or not.
    fn parse_head(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        let mut passed = 0;
        while let Some(length) = self.parse_one_head(bytes.get(passed..).unwrap_or_default())? {
            passed += length;
            if self.rest != Rest::Head {
                return Ok(Some(passed));
            }
        }
        Ok(None)
    }

    /// Leaves `rest` as it is if the head is an interim one.
    fn parse_one_head(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut response = httparse::Response::new(&mut headers);
        let length = match response.parse(bytes).map_err(|_| Fault::BadResponse)? {
            httparse::Status::Partial => return Ok(None),
            httparse::Status::Complete(length) => length,
        };
        let status = response.code.unwrap_or_default();
        // No upgrade was asked for.
        if status == 101 {
            return Err(Fault::BadResponse);
        }
        if matches!(status, 100..=199) {
            return Ok(Some(length));
        }
        self.status = status;
        let header = |name: &str| response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        self.rest = match (header("transfer-encoding"), header("content-length")) {
            _ if matches!(status, 204 | 304) => Rest::Done,
            (Some(encoding), _) if encoding.value.eq_ignore_ascii_case(b"chunked") => Rest::Chunked(Chunk::Size(0, false)),
            (Some(_), _) => return Err(Fault::BadResponse),
            (None, Some(length)) => {
                let text = std::str::from_utf8(length.value).ok();
                match text.and_then(|text| text.trim().parse().ok()).ok_or(Fault::BadResponse)? {
                    0 => Rest::Done,
                    length => Rest::Length(length),
                }
            }
            (None, None) => Rest::UntilClose,
        };
        Ok(Some(length))
    }

    fn take_body(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        match self.rest {
            Rest::Head | Rest::UntilClose => Ok(()),
            Rest::Done if bytes.is_empty() => Ok(()),
            Rest::Done => Err(Fault::BadResponse),
            Rest::Length(left) => {
                let left = left.checked_sub(bytes.len() as u64).ok_or(Fault::BadResponse)?;
                self.rest = if left == 0 { Rest::Done } else { Rest::Length(left) };
                Ok(())
            }
            Rest::Chunked(chunk) => self.take_chunks(chunk, bytes),
        }
    }

    fn take_chunks(&mut self, mut chunk: Chunk, mut bytes: &[u8]) -> Result<(), Fault> {
        while let Some((&byte, rest)) = bytes.split_first() {
            bytes = rest;
            chunk = match (chunk, byte) {
                (Chunk::Size(0, _), b'\n') => Chunk::Trailer(0),
                (Chunk::Size(size, _), b'\n') => Chunk::Data(size),
                (Chunk::Size(size, false), digit) if digit.is_ascii_hexdigit() => {
                    let digit = char::from(digit).to_digit(16).unwrap_or_default();
                    let size = size.checked_mul(16).and_then(|size| size.checked_add(digit.into()));
                    Chunk::Size(size.ok_or(Fault::BadResponse)?, false)
                }
                (Chunk::Size(size, _), b';' | b' ' | b'\r') => Chunk::Size(size, true),
                (Chunk::Size(size, true), _) => Chunk::Size(size, true),
                (Chunk::Size(..), _) => return Err(Fault::BadResponse),
                (Chunk::Data(left), _) => {
                    let here = (rest.len() as u64).min(left - 1);
                    bytes = rest.get(here as usize..).unwrap_or_default();
                    if left - 1 == here { Chunk::DataEnd } else { Chunk::Data(left - 1 - here) }
                }
                (Chunk::DataEnd, b'\r') => Chunk::DataEnd,
                (Chunk::DataEnd, b'\n') => Chunk::Size(0, false),
                (Chunk::DataEnd, _) => return Err(Fault::BadResponse),
                (Chunk::Trailer(0), b'\n') => {
                    self.rest = Rest::Done;
                    return if bytes.is_empty() { Ok(()) } else { Err(Fault::BadResponse) };
                }
                (Chunk::Trailer(_), b'\n') => Chunk::Trailer(0),
                (Chunk::Trailer(length), b'\r') => Chunk::Trailer(length),
                (Chunk::Trailer(length), _) if (length as usize) < MAX_HEAD => Chunk::Trailer(length + 1),
                (Chunk::Trailer(_), _) => return Err(Fault::TooLarge),
            };
        }
        self.rest = Rest::Chunked(chunk);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However the bytes are cut, the response ends with its last byte and not before.
    fn ends_with_its_last_byte(text: &str) {
        let bytes = text.as_bytes();
        for step in 1..=bytes.len() {
            let mut response = Response::default();
            let parts: Vec<&[u8]> = bytes.chunks(step).collect();
            let (last, before) = parts.split_last().unwrap();
            assert!(before.iter().all(|part| !response.take(part).unwrap()), "{text:?} by {step}");
            assert!(response.take(last).unwrap(), "{text:?} by {step}");
        }
    }

    #[test]
    fn a_response_ends_where_its_framing_says() {
        ends_with_its_last_byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n");
        ends_with_its_last_byte("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        ends_with_its_last_byte("HTTP/1.1 204 No Content\r\n\r\n");
        ends_with_its_last_byte(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWiki\r\n1A;x=y\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n",
        );
        ends_with_its_last_byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n");
    }

    #[test]
    fn interim_responses_are_passed_over() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        let last = "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno\n";
        ends_with_its_last_byte(&format!("{interim}{last}"));
        let mut response = Response::default();
        assert_eq!(response.take(interim.as_bytes()), Ok(false));
        assert!(!response.end(), "an interim response is no answer");
        assert_eq!((response.take(last.as_bytes()), response.status()), (Ok(true), 404));
        let upgrade = Response::default().take(b"HTTP/1.1 101 Switching Protocols\r\n\r\n");
        assert_eq!(upgrade, Err(Fault::BadResponse), "nobody asked for it");
    }

    #[test]
    fn without_framing_the_end_of_the_connection_ends_it() {
        let mut response = Response::default();
        assert_eq!(response.take(b"HTTP/1.0 200 OK\r\n\r\nall that comes"), Ok(false));
        assert!(response.end());
        assert_eq!(response.status(), 200);
        let mut cut = Response::default();
        assert_eq!(cut.take(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234"), Ok(false));
        assert!(!cut.end());
    }

    #[test]
    fn what_is_no_response_is_refused() {
        let refused = |text: &str| Response::default().take(text.as_bytes()).unwrap_err();
        assert_eq!(refused("SSH-2.0-x\r\n"), Fault::BadResponse);
        assert_eq!(refused("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), Fault::BadResponse);
        assert_eq!(refused("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab"), Fault::BadResponse);
        assert_eq!(refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx"), Fault::BadResponse);
        assert_eq!(refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff"), Fault::BadResponse);
    }
}
