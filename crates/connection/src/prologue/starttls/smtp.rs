//! SMTP: EHLO, STARTTLS, and EHLO once more (RFC 3207).

use std::net::IpAddr;

use super::{Service, reply};
use crate::prologue::dialogue::{Dialogue, Length, Turn};
use crate::prologue::{Message, Problem};

pub(super) struct Smtp {
    pub(super) client: IpAddr,
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
