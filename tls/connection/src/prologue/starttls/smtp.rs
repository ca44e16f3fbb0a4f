//! SMTP: EHLO, STARTTLS, and EHLO once more (RFC 3207).

use std::net::IpAddr;

use super::{Protocol, Service, reply};
use crate::prologue::dialogue::{Dialogue, Length, Turn, line};
use crate::prologue::server_side::{ServerSide, command};
use crate::prologue::{Message, Problem, ServerReply};

pub(super) static PROTOCOL: Protocol =
    Protocol { name: "smtp", port: 25, new: |it| Box::new(Smtp { client: it.client }), server: &SERVER };

struct Smtp {
    client: IpAddr,
}

impl Dialogue for Smtp {
    fn length(&self, _due: Message, heard: &[u8]) -> Length {
        reply::length(heard)
    }

    fn answer(&self, due: Message, message: &[u8]) -> Turn {
        match (due, reply::code(message)) {
            (Message::Greeting, Some(220)) => Turn::Say(self.question(), Message::EhloReply),
            (Message::EhloReply, Some(250)) if reply::lists(message, "STARTTLS") => {
                Turn::Say(b"STARTTLS\r\n".to_vec(), Message::StartTlsReply)
            }
            (Message::EhloReply, Some(250)) => Turn::Fail(Problem::NotOffered),
            (Message::StartTlsReply, Some(220)) => Turn::Done,
            _ => reply::refused(message),
        }
    }
}

impl Service for Smtp {
    /// Under TLS the client introduces itself anew (RFC 3207 §4.2). A client without a name gives its address (RFC 5321
    /// §4.1.3).
    fn question(&self) -> Vec<u8> {
        let literal = match self.client.to_canonical() {
            IpAddr::V4(address) => format!("[{address}]"),
            IpAddr::V6(address) => format!("[IPv6:{address}]"),
        };
        format!("EHLO {literal}\r\n").into_bytes()
    }
}

const SERVER: ServerSide = ServerSide {
    greeting: b"220 localhost ESMTP\r\n",
    length: line,
    in_the_clear: |message| match command(message).as_str() {
        "EHLO" => ServerReply::say(b"250-localhost\r\n250 STARTTLS\r\n"),
        "STARTTLS" => ServerReply::start_tls(b"220 Go ahead\r\n"),
        "MAIL" | "AUTH" => ServerReply::say(b"530 Must issue a STARTTLS command first\r\n"),
        _ => either(message),
    },
    under_tls: |message| match command(message).as_str() {
        "EHLO" => ServerReply::say(b"250 localhost\r\n"),
        _ => either(message),
    },
};

/// Mail is not refused for good, so that a client which has some keeps it.
fn either(message: &[u8]) -> ServerReply {
    match command(message).as_str() {
        "HELO" | "NOOP" | "RSET" => ServerReply::say(b"250 OK\r\n"),
        "QUIT" => ServerReply::close(b"221 Bye\r\n"),
        "MAIL" => ServerReply::say(b"451 This server takes no mail, try again later\r\n"),
        _ => ServerReply::say(b"502 Command not implemented\r\n"),
    }
}
