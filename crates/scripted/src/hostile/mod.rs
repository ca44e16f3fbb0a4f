//! Servers that are broken or mean, in one table: what each does, what the client makes of it, and so what a user reads.
//!
//! `crates/scripted/tests/hostile.rs` holds the engine to it, and bounds its memory; `crates/cli/tests/hostile.rs` plays
//! the same servers over sockets to the real program.

mod table;

use reprise_trace::Version;

use crate::play::Deviation as D;
use crate::play::Play;
use crate::setting::{Ending, Line, Setting};

/// One server.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it does.
    pub name: String,
    /// What it would be if it were honest.
    pub setting: Setting,
    /// Where it is not.
    pub deviations: Vec<(usize, D)>,
    /// What is to come of it.
    pub expected: Expected,
}

/// What comes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The client refuses with this error, which the user reads: exit 3.
    Refused(&'static str),
    /// The client waits for this message until its time is up, which the user reads: exit 3.
    Awaited(&'static str),
    /// The connection breaks while the client waits for this message, which the user reads: exit 3.
    Broken(&'static str),
    /// The client bears it, and its request is answered: exit 0. This stands among the connection's events.
    Borne(&'static str),
    /// The client bears it, for as long as its user lets it: the response never ends, exit 3.
    BorneUntilTimeout,
}

impl Case {
    /// The server, for one connection.
    pub fn play(&self) -> Play {
        Play::deviating(self.setting, &self.deviations)
    }
}

use Expected::{Awaited, Borne, Broken, Refused};

/// Every case: those of the table, and what may happen at any line.
pub fn cases() -> Vec<Case> {
    each_line().into_iter().chain(table::cases()).collect()
}

/// Silence, an end and a reset in place of each line, and in the middle of it; and each line byte by byte.
fn each_line() -> Vec<Case> {
    let mut cases = Vec::new();
    for version in [Version::Tls12, Version::Tls13] {
        let setting = Setting::full(version);
        let mut awaited = "ServerHello";
        for (place, line) in setting.lines().iter().enumerate() {
            let Some(name) = name(line) else { continue };
            let mut push = |what: &str, deviation: D, expected: Expected| {
                let name = format!("TLS {}: {what} {name}", version.number());
                cases.push(Case { name, setting, deviations: vec![(place, deviation)], expected });
            };
            awaited = due(version, line).unwrap_or(awaited);
            let is_over = matches!(line, Line::Alert(..));
            // Many servers spare the close_notify, and what they do after the response is no matter.
            let or_over = |expected| if is_over { Borne("Finished") } else { expected };
            push("silence instead of", D::Cut(0, Ending::Silence), or_over(Awaited(awaited)));
            push("a reset instead of", D::Cut(0, Ending::Reset), or_over(Broken(awaited)));
            push("an end instead of", D::Cut(0, Ending::Close), or_over(ended_before(line)));
            push("silence in the middle of", D::Cut(3, Ending::Silence), or_over(Awaited(awaited)));
            push(
                "an end in the middle of",
                D::Cut(3, Ending::Close),
                Refused("the server closed the connection in the middle of a record"),
            );
            push("byte by byte,", D::ByteByByte, Borne("Finished"));
        }
    }
    cases
}

fn ended_before(line: &Line) -> Expected {
    match line {
        Line::Hello => Refused("the server closed the connection without an answer to the ClientHello"),
        Line::Data(_) => Refused("the server closed the connection without a response"),
        _ => Refused("the server closed the connection in the middle of the handshake"),
    }
}

/// The line, for those that are told about it.
fn name(line: &Line) -> Option<&'static str> {
    Some(match line {
        Line::Hello => "ServerHello",
        Line::EncryptedExtensions => "EncryptedExtensions",
        Line::Certificate => "Certificate",
        Line::CertificateVerify => "CertificateVerify",
        Line::ServerKeyExchange => "ServerKeyExchange",
        Line::ServerHelloDone => "ServerHelloDone",
        Line::ChangeCipherSpec => "ChangeCipherSpec",
        Line::Finished => "Finished",
        Line::Data(_) => "its response",
        Line::Alert(..) => "close_notify",
        _ => return None,
    })
}

/// What a client waits for that has not heard this line; `None` where it does not matter to it.
fn due(version: Version, line: &Line) -> Option<&'static str> {
    match line {
        Line::ChangeCipherSpec if version == Version::Tls13 => Some("EncryptedExtensions"),
        Line::Data(_) | Line::Alert(..) => Some("response"),
        line => name(line),
    }
}
