//! FTP: AUTH TLS and NOOP (RFC 4217 §4, RFC 959 §4.1.3).

use super::{Service, reply};
use crate::prologue::Message;
use crate::prologue::dialogue::{Dialogue, Length, Turn};

pub(super) struct Ftp;

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
