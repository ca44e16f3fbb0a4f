//! What may happen at any line of any handshake.

use reprise_model::{Kind, Version};

use super::Expected::{self, Awaited, Borne, Broken, Refused};
use super::HostileServer;
use crate::play::Deviation as D;
use crate::setting::{ConnectionEnd, Line, Setting};

/// Silence, an end and a reset in place of each line, and in the middle of it; and each line byte by byte.
pub(super) fn cases() -> Vec<HostileServer> {
    let mut cases = Vec::new();
    for setting in settings() {
        let mut awaited = "ServerHello";
        let lines = setting.lines();
        for (place, line) in lines.iter().enumerate() {
            let Some(name) = name(line).filter(|_| !lines[..place].contains(line)) else { continue };
            let mut push = |what: &str, deviation: D, expected: Expected| {
                let name = format!("{}: {what} {name}", super::title(&setting));
                cases.push(HostileServer { name, setting, deviations: vec![(place, deviation)], expected, told: None });
            };
            awaited = due(setting.version, line).unwrap_or(awaited);
            let is_over = matches!(line, Line::Alert(..));
            // Many servers spare the close_notify, and what they do after the response is no matter.
            let or_over = |expected| if is_over { Borne("Finished") } else { expected };
            push("silence instead of", D::Cut(0, ConnectionEnd::Silence), or_over(Awaited(awaited)));
            push("a reset instead of", D::Cut(0, ConnectionEnd::Reset), or_over(Broken(awaited)));
            push("an end instead of", D::Cut(0, ConnectionEnd::Close), or_over(ended_before(setting.version, line)));
            push("silence in the middle of", D::Cut(3, ConnectionEnd::Silence), or_over(Awaited(awaited)));
            push(
                "an end in the middle of",
                D::Cut(3, ConnectionEnd::Close),
                Refused("the server closed the connection in the middle of a record"),
            );
            push("byte by byte,", D::ByteByByte, Borne("Finished"));
        }
    }
    cases
}

/// A full handshake of each version, and each way to resume.
fn settings() -> [Setting; 6] {
    [
        Setting::full(Version::Tls12),
        Setting::full(Version::Tls13),
        Setting::resumed(Version::Tls12, Kind::Id),
        Setting::resumed(Version::Tls12, Kind::Ticket),
        Setting::resumed(Version::Tls13, Kind::Ticket),
        Setting::resumed(Version::Tls13, Kind::Early),
    ]
}

fn ended_before(version: Version, line: &Line) -> Expected {
    match line {
        Line::Hello => Refused("the server closed the connection without an answer to the ClientHello"),
        Line::Ticket if version == Version::Tls13 => Refused("the server closed the connection without a response"),
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
        Line::Ticket => "NewSessionTicket",
        Line::Data(_) => "its response",
        Line::Alert(..) => "close_notify",
        _ => return None,
    })
}

/// What a client waits for that has not heard this line; `None` where it does not matter to it.
fn due(version: Version, line: &Line) -> Option<&'static str> {
    match line {
        Line::Ticket if version == Version::Tls13 => Some("response"),
        Line::ChangeCipherSpec if version == Version::Tls13 => Some("EncryptedExtensions"),
        Line::Data(_) | Line::Alert(..) => Some("response"),
        line => name(line),
    }
}
