//! FTP: AUTH TLS and NOOP (RFC 4217 §4, RFC 959 §4.1.3).

use super::{Protocol, Service, reply};
use crate::prologue::dialogue::{Dialogue, Length, Turn, line};
use crate::prologue::server_side::{ServerSide, command};
use crate::prologue::{DataCommand, Message, ServerReply};

pub(super) static PROTOCOL: Protocol = Protocol { name: "ftp", port: 21, new: |_| Box::new(Ftp), server: &SERVER };

struct Ftp;

impl Dialogue for Ftp {
    fn length(&self, _due: Message, heard: &[u8]) -> Length {
        reply::length(heard)
    }

    fn answer(&self, due: Message, message: &[u8]) -> Turn {
        match (due, reply::code(message)) {
            // RFC 959 §5.4: 120 promises the true one for later.
            (Message::Greeting, Some(120)) => Turn::Await(due),
            (Message::Greeting, Some(220)) => Turn::Say(b"AUTH TLS\r\n".to_vec(), Message::AuthTlsReply),
            (Message::AuthTlsReply, Some(234)) => Turn::Done,
            _ => reply::refused(message),
        }
    }
}

impl Service for Ftp {
    fn question(&self) -> Vec<u8> {
        b"NOOP\r\n".to_vec()
    }
}

const SERVER: ServerSide = ServerSide {
    greeting: b"220 localhost\r\n",
    length: line,
    in_the_clear: |message| match command(message).as_str() {
        "AUTH" => ServerReply::start_tls(b"234 begin TLS\r\n"),
        "FEAT" => ServerReply::say(b"211-Features\r\n AUTH TLS\r\n211 End\r\n"),
        "USER" | "PASS" => ServerReply::say(b"530 TLS first\r\n"),
        _ => either(message),
    },
    under_tls: |message| match command(message).as_str() {
        "USER" | "PASS" => ServerReply::say(b"230 Logged in\r\n"),
        "PBSZ" | "TYPE" | "MODE" | "STRU" | "OPTS" => ServerReply::say(b"200 OK\r\n"),
        "CWD" | "CDUP" => ServerReply::say(b"250 OK\r\n"),
        "PWD" => ServerReply::say(b"257 \"/\"\r\n"),
        "SYST" => ServerReply::say(b"215 UNIX Type: L8\r\n"),
        "PROT" => ServerReply::Data(DataCommand::Protect(argument(message) == b"P")),
        "EPSV" => ServerReply::Data(DataCommand::Open { extended: true }),
        "PASV" => ServerReply::Data(DataCommand::Open { extended: false }),
        "LIST" | "NLST" | "MLSD" | "RETR" => ServerReply::Data(DataCommand::Send),
        "STOR" | "APPE" => ServerReply::Data(DataCommand::Receive),
        _ => either(message),
    },
};

/// What follows the command.
fn argument(message: &[u8]) -> &[u8] {
    message.iter().position(u8::is_ascii_whitespace).and_then(|at| message.get(at..)).unwrap_or_default().trim_ascii()
}

fn either(message: &[u8]) -> ServerReply {
    match command(message).as_str() {
        "NOOP" => ServerReply::say(b"200 OK\r\n"),
        "QUIT" => ServerReply::close(b"221 Bye\r\n"),
        _ => ServerReply::say(b"502 Command not implemented\r\n"),
    }
}
