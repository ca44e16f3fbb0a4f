//! IMAP: STARTTLS and NOOP (RFC 9051 §6.2.1, §6.1.2).

use super::Service;
use crate::prologue::dialogue::{Dialogue, Length, Turn, Unexpected, agree, line};
use crate::prologue::{Message, Problem};

pub(super) struct Imap;

impl Dialogue for Imap {
    fn length(&self, due: Message, heard: &[u8]) -> Length {
        match due {
            Message::Greeting if agree(heard, b"* ") => line(heard),
            Message::Greeting => Err(Unexpected),
            Message::Answer => tagged(b"b", heard),
            _ => tagged(b"a", heard),
        }
    }

    fn answer(&self, due: Message, message: &[u8]) -> Turn {
        let last = last_line(message);
        let begins = |with: &[u8]| last.to_ascii_uppercase().starts_with(with);
        match due {
            Message::Greeting if begins(b"* OK") => Turn::Say(b"a STARTTLS\r\n".to_vec(), Message::StartTlsResponse),
            Message::StartTlsResponse if begins(b"A OK") => Turn::Done,
            _ => Turn::Fail(Problem::Refused { code: None, said: last.to_vec() }),
        }
    }
}

impl Service for Imap {
    fn question(&self) -> Vec<u8> {
        b"b NOOP\r\n".to_vec()
    }

    fn farewell(&self, _answer: &[u8]) -> Vec<u8> {
        b"c LOGOUT\r\n".to_vec()
    }
}

/// Untagged responses, and the tagged one that completes the command.
fn tagged(tag: &[u8], heard: &[u8]) -> Length {
    let mut length = 0;
    for line in heard.split_inclusive(|&byte| byte == b'\n') {
        let completes = agree(line, &[tag, b" "].concat());
        if !completes && !agree(line, b"* ") {
            return Err(Unexpected);
        }
        length += line.len();
        if completes && line.ends_with(b"\n") {
            return Ok(Some(length));
        }
    }
    Ok(None)
}

fn last_line(response: &[u8]) -> &[u8] {
    response.split_inclusive(|&byte| byte == b'\n').next_back().unwrap_or_default()
}
