//! POP3: STLS (RFC 2595 §4) and CAPA (RFC 2449 §5).

use super::{Protocol, Service};
use crate::prologue::dialogue::{Dialogue, Length, Turn, Unexpected, agree, line};
use crate::prologue::server_side::{ServerSide, command};
use crate::prologue::{Message, Problem, ServerReply};

pub(super) static PROTOCOL: Protocol = Protocol { name: "pop3", port: 110, new: |_| Box::new(Pop3), server: &SERVER };

struct Pop3;

const OK: &[u8] = b"+OK";

impl Dialogue for Pop3 {
    fn length(&self, due: Message, heard: &[u8]) -> Length {
        match due {
            // What is affirmed goes on to a line with a point alone.
            Message::Answer if heard.starts_with(OK) => {
                Ok(heard.windows(5).position(|window| window == b"\r\n.\r\n").map(|at| at + 5))
            }
            _ if agree(heard, OK) || agree(heard, b"-ERR") => line(heard),
            _ => Err(Unexpected),
        }
    }

    fn answer(&self, due: Message, message: &[u8]) -> Turn {
        match due {
            Message::Greeting if message.starts_with(OK) => Turn::Say(b"STLS\r\n".to_vec(), Message::StlsResponse),
            Message::StlsResponse if message.starts_with(OK) => Turn::Done,
            _ => Turn::Fail(Problem::Refused { code: None, said: message.to_vec() }),
        }
    }
}

impl Service for Pop3 {
    fn question(&self) -> Vec<u8> {
        b"CAPA\r\n".to_vec()
    }
}

const SERVER: ServerSide = ServerSide {
    greeting: b"+OK localhost\r\n",
    length: line,
    in_the_clear: |message| match command(message).as_str() {
        "STLS" => ServerReply::start_tls(b"+OK begin TLS\r\n"),
        "CAPA" => ServerReply::say(b"+OK\r\nSTLS\r\n.\r\n"),
        _ => either(message),
    },
    under_tls: |message| match command(message).as_str() {
        "CAPA" => ServerReply::say(b"+OK\r\nUSER\r\n.\r\n"),
        _ => either(message),
    },
};

fn either(message: &[u8]) -> ServerReply {
    match command(message).as_str() {
        "QUIT" => ServerReply::close(b"+OK\r\n"),
        _ => ServerReply::say(b"-ERR nobody is let in\r\n"),
    }
}
