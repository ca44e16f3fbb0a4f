//! PostgreSQL: SSLRequest, and a StartupMessage under TLS
//! (<https://www.postgresql.org/docs/current/protocol-message-formats.html>).

use super::{Protocol, Service};
use crate::prologue::dialogue::{Dialogue, Length, Turn, Unexpected};
use crate::prologue::server_side::ServerSide;
use crate::prologue::{Message, Problem, ServerReply};

pub(super) static PROTOCOL: Protocol =
    Protocol { name: "postgres", port: 5432, new: |_| Box::new(Postgres), server: &SERVER };

struct Postgres;

/// Length 8, code 1234 5679.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Length 8, code 1234 5680.
const GSS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 48];

/// Protocol 3.0, `user` and `database`, each ended by a zero, and a zero more.
const STARTUP: &[u8] = b"\x00\x03\x00\x00user\0reprise\0database\0postgres\0\0";

/// What asks for a password, or says that none is needed; and what refuses.
const AUTHENTICATION: u8 = b'R';
const ERROR_RESPONSE: u8 = b'E';
/// Servers that do not know the minor version say so first.
const NEGOTIATE_PROTOCOL_VERSION: u8 = b'v';

/// An answer is no longer than this; PostgreSQL's own clients have the same limit for an error before authentication.
const MAX_MESSAGE: usize = 30_000;

impl Dialogue for Postgres {
    fn opening(&self) -> (Vec<u8>, Message) {
        (SSL_REQUEST.to_vec(), Message::SslRequestAnswer)
    }

    /// In the clear one byte, and not one more is read as its own: what else is there was slipped in (CVE-2021-23222).
    fn length(&self, due: Message, heard: &[u8]) -> Length {
        if due == Message::Answer { authentication_length(heard) } else { Ok((!heard.is_empty()).then_some(1)) }
    }

    fn answer(&self, _due: Message, message: &[u8]) -> Turn {
        match *message {
            [b'S'] => Turn::Done,
            // A server that cannot start a process for the client says so in the clear.
            [b'N' | ERROR_RESPONSE] => Turn::Fail(Problem::Refused { code: None, said: message.to_vec() }),
            _ => Turn::Fail(Problem::Unexpected(message.to_vec())),
        }
    }
}

impl Service for Postgres {
    /// The server answers with a demand for a password or with a refusal; either shows that it has the keys.
    fn question(&self) -> Vec<u8> {
        let length = u32::try_from(STARTUP.len() + 4).unwrap_or_default();
        [&length.to_be_bytes()[..], STARTUP].concat()
    }

    /// Who has not been let in yet has nothing to terminate.
    fn farewell(&self, _answer: &[u8]) -> Vec<u8> {
        Vec::new()
    }
}

const SERVER: ServerSide = ServerSide {
    greeting: b"",
    length: startup_length,
    in_the_clear: |message| match <[u8; 8]>::try_from(message) {
        Ok(SSL_REQUEST) => ServerReply::start_tls(b"S"),
        Ok(GSS_REQUEST) => ServerReply::say(b"N"),
        _ => refusal("connections without TLS are not taken"),
    },
    under_tls: |_| refusal("nobody is let in"),
};

/// ErrorResponse: severity, SQLSTATE invalid_authorization_specification, and words.
fn refusal(words: &str) -> ServerReply {
    let fields = format!("SFATAL\0VFATAL\0C28000\0M{words}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap_or_default();
    ServerReply::Close([&[ERROR_RESPONSE][..], &length.to_be_bytes(), fields.as_bytes()].concat())
}

/// What a client says before it is let in has no type, only a length that counts itself.
fn startup_length(heard: &[u8]) -> Length {
    let Some(length) = heard.first_chunk().map(|length| u32::from_be_bytes(*length)) else {
        return if heard.first().is_none_or(|&first| first == 0) { Ok(None) } else { Err(Unexpected) };
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if !(8..=MAX_MESSAGE).contains(&length) {
        return Err(Unexpected);
    }
    Ok((heard.len() >= length).then_some(length))
}

/// A type and a length that counts itself, then what it is about.
fn authentication_length(heard: &[u8]) -> Length {
    let mut at = 0;
    loop {
        let message = heard.get(at..).unwrap_or_default();
        let Some(&kind) = message.first() else { return Ok(None) };
        if !matches!(kind, AUTHENTICATION | ERROR_RESPONSE | NEGOTIATE_PROTOCOL_VERSION) {
            return Err(Unexpected);
        }
        let Some(&[a, b, c, d]) = message.get(1..5) else { return Ok(None) };
        let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if !(4..=MAX_MESSAGE).contains(&length) {
            return Err(Unexpected);
        }
        at += 1 + length;
        if heard.len() < at {
            return Ok(None);
        }
        if kind != NEGOTIATE_PROTOCOL_VERSION {
            return Ok(Some(at));
        }
    }
}
