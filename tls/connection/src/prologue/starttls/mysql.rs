//! MySQL and MariaDB: SSLRequest, and a user who does not exist under TLS
//! (<https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html>).

use super::{Protocol, Service};
use crate::prologue::dialogue::{Dialogue, Length, Turn, Unexpected};
use crate::prologue::server_side::ServerSide;
use crate::prologue::{Message, Problem, ServerReply};

pub(super) static PROTOCOL: Protocol = Protocol { name: "mysql", port: 3306, new: |_| Box::new(MySql), server: &SERVER };

struct MySql;

/// CLIENT_LONG_PASSWORD, CLIENT_PROTOCOL_41, CLIENT_SSL, CLIENT_RESERVED2 (once SECURE_CONNECTION), CLIENT_PLUGIN_AUTH.
const CAPABILITIES: u32 = 0x0008_8a01;
const CLIENT_SSL: u16 = 0x0800;
const MAX_PACKET: u32 = 1 << 24;
const UTF8: u8 = 33;

const PROTOCOL_VERSION: u8 = 10;
const OK: u8 = 0x00;
const ERROR: u8 = 0xff;
const AUTHENTICATION_SWITCH: u8 = 0xfe;

/// A greeting or an error is no longer.
const MAX_PAYLOAD: usize = 8 * 1024;

impl Dialogue for MySql {
    fn length(&self, _due: Message, heard: &[u8]) -> Length {
        packet(heard)
    }

    fn answer(&self, _due: Message, greeting: &[u8]) -> Turn {
        let payload = greeting.get(4..).unwrap_or_default();
        match (payload, capabilities(payload)) {
            ([PROTOCOL_VERSION, ..], Some(given)) if given & CLIENT_SSL != 0 => Turn::Tell(framed(1, &login_begin())),
            ([PROTOCOL_VERSION, ..], Some(_)) => Turn::Fail(Problem::NotOffered),
            // A code of two bytes, and words.
            ([ERROR, rest @ ..], _) => {
                let code = rest.first_chunk().map(|code| u16::from_le_bytes(*code));
                Turn::Fail(Problem::Refused { code, said: rest.get(2..).unwrap_or_default().to_vec() })
            }
            _ => Turn::Fail(Problem::Unexpected(greeting.to_vec())),
        }
    }
}

impl Service for MySql {
    /// The whole login: a server counts connections that end before it, and after a hundred it blocks the host
    /// (max_connect_errors).
    fn question(&self) -> Vec<u8> {
        framed(2, &[&login_begin()[..], b"reprise\0\0mysql_native_password\0"].concat())
    }

    /// Asked for another proof, an empty one: the server then refuses, which it does not count against the host.
    fn farewell(&self, answer: &[u8]) -> Vec<u8> {
        match (answer.get(3), answer.get(4)) {
            (Some(number), Some(&AUTHENTICATION_SWITCH)) => framed(number.wrapping_add(1), &[]),
            // COM_QUIT.
            (_, Some(&OK)) => framed(0, &[1]),
            _ => Vec::new(),
        }
    }
}

/// Version 10 and the server's name for itself, a thread's number, half the challenge and a filler; the lower capabilities: LONG_PASSWORD,
/// CONNECT_WITH_DB, PROTOCOL_41, SSL, TRANSACTIONS, SECURE_CONNECTION; UTF8, the status autocommit, the upper capabilities:
/// PLUGIN_AUTH; how long the challenge is, ten zeros, its other half, and how it is answered.
const GREETING: &[u8] =
    b"\x49\0\0\0\x0a8.0.0\0\x01\0\0\0reprise1\0\x09\xaa\x21\x02\0\x08\0\x15\0\0\0\0\0\0\0\0\0\0reprise12345\0\
    mysql_native_password\0";

/// SSLRequest is the beginning of a login, and has no answer: the ClientHello follows at once.
const SERVER: ServerSide = ServerSide {
    greeting: GREETING,
    length: packet,
    in_the_clear: |message| match message.get(4..) {
        Some([low, high, ..]) if message.len() == 4 + 32 && u16::from_le_bytes([*low, *high]) & CLIENT_SSL != 0 => {
            ServerReply::start_tls(b"")
        }
        _ => refusal(message, 3159, b"HY000connections without TLS are not taken"),
    },
    under_tls: |message| refusal(message, 1045, b"28000nobody is let in"),
};

/// An error: a number, SQLSTATE and words.
fn refusal(message: &[u8], code: u16, words: &[u8]) -> ServerReply {
    let number = message.get(3).map_or(0, |number| number.wrapping_add(1));
    ServerReply::Close(framed(number, &[&[ERROR][..], &code.to_le_bytes(), b"#", words].concat()))
}

/// A length of three bytes, the lowest first, and a number.
fn packet(heard: &[u8]) -> Length {
    let [a, b, c, _number, ..] = *heard else { return Ok(None) };
    let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
    if !(1..=MAX_PAYLOAD).contains(&length) {
        return Err(Unexpected);
    }
    Ok((heard.len() >= 4 + length).then_some(4 + length))
}

fn framed(number: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or_default().to_le_bytes();
    [&length[..3], &[number], payload].concat()
}

/// What SSLRequest and the login have in common.
fn login_begin() -> Vec<u8> {
    [&CAPABILITIES.to_le_bytes()[..], &MAX_PACKET.to_le_bytes(), &[UTF8], &[0; 23]].concat()
}

/// The lower two bytes of the capabilities: after the version, the server's name for itself, a thread's number (4), a part
/// of the challenge (8) and a filler (1).
fn capabilities(greeting: &[u8]) -> Option<u16> {
    let name = greeting.get(1..)?;
    let end = 1 + name.iter().position(|&byte| byte == 0)? + 1;
    let low = greeting.get(end + 13..end + 15)?;
    Some(u16::from_le_bytes(low.try_into().ok()?))
}
