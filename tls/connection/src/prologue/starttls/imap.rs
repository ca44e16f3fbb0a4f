//! IMAP: STARTTLS and NOOP (RFC 9051 §6.2.1, §6.1.2).

use super::{Protocol, Service};
use crate::prologue::dialogue::{Dialogue, Length, Turn, Unexpected, agree, line};
use crate::prologue::server_side::{ServerSide, command};
use crate::prologue::{Message, Problem, ServerReply};

pub(super) static PROTOCOL: Protocol = Protocol { name: "imap", port: 143, new: |_| Box::new(Imap), server: &SERVER };

struct Imap;

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

const SERVER: ServerSide = ServerSide {
    greeting: b"* OK localhost\r\n",
    length: line,
    in_the_clear: |message| served(message, true),
    under_tls: |message| served(message, false),
};

fn served(message: &[u8], is_in_the_clear: bool) -> ServerReply {
    let tag = String::from_utf8_lossy(message.split(|&byte| byte == b' ').next().unwrap_or_default());
    let tag = tag.trim_end();
    let say = |words: String| ServerReply::Say(words.into_bytes());
    let capabilities = if is_in_the_clear { " STARTTLS LOGINDISABLED" } else { "" };
    match command(message.get(tag.len()..).unwrap_or_default().trim_ascii_start()).as_str() {
        "STARTTLS" if is_in_the_clear => ServerReply::StartTls(format!("{tag} OK begin TLS\r\n").into_bytes()),
        "CAPABILITY" => say(format!("* CAPABILITY IMAP4rev1{capabilities}\r\n{tag} OK done\r\n")),
        "NOOP" => say(format!("{tag} OK done\r\n")),
        "LOGOUT" => ServerReply::Close(format!("* BYE\r\n{tag} OK done\r\n").into_bytes()),
        _ => say(format!("{tag} NO nobody is let in\r\n")),
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
