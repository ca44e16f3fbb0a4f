//! One control connection, and the listing that it transfers over a data connection.

use std::net::SocketAddr;
use std::sync::Arc;

use reprise_connection::Fault;
use reprise_connection::prologue::{PrologueStep, Unexpected, reply};
use reprise_engine::Config;
use reprise_model::{Asked, FailureClass, FaultName, Kind};

use super::tls_stream::TlsStream;
use super::{DataTransfer, NoTransfer};
use crate::connection_plan::{HeldSession, SessionOffer};
use crate::connector::Connector;
use crate::options::FtpLogin;
use crate::plan::VersionPlan;
use crate::session_cache::{has_ticket, offer_of};

/// A reply longer than this is none.
const LONGEST_REPLY: usize = 64 * 1024;
/// More of a listing is not read.
const LONGEST_LISTING: usize = 1024 * 1024;

/// Logs in, protects the data channel (RFC 4217 §9) and asks for a listing, which changes nothing.
pub(super) fn transfer(
    connector: &mut Connector,
    plan: &VersionPlan,
    login: &FtpLogin,
    offers_session: bool,
) -> Result<DataTransfer, NoTransfer> {
    let (tls, config) = (plan.version, &plan.config);
    let mut control = Control::open(connector, config, Asked { tls, kind: Kind::Ticket })?;
    control.log_in(login)?;
    control.ask("PBSZ 0", "PBSZ")?;
    control.ask("PROT P", "PROT")?;
    let port = control.passive_port()?;
    let session = control.tls.take_sessions().pop().filter(|_| offers_session);
    let is_offered = session.is_some();
    let offer = match session {
        Some(session) => {
            let kind = if has_ticket(&session) { Kind::Ticket } else { Kind::Id };
            offer_of(HeldSession { session, origin: None }, kind, usize::MAX)
        }
        None => SessionOffer::nothing(Asked { tls, kind: Kind::Ticket }),
    };
    let stream = connector.dial(Some(port))?;
    let mut data = TlsStream::new(stream, config.clone(), offer.offer, connector.settings.clock)?;
    control.tls.send(b"LIST\r\n")?;
    let mut reply = control.reply()?;
    let mut is_resumed = None;
    if reply.is_preliminary() {
        let listed = list(&mut data);
        is_resumed = data.is_resumed();
        // vsftpd says nothing more before it has our close_notify.
        data.close();
        interrupted(listed)?;
        reply = control.reply()?;
    }
    let transfer =
        DataTransfer { tls, offers_session: is_offered, is_resumed, is_complete: reply.is_completion(), reply: reply.text };
    let _ = control.tls.send(b"QUIT\r\n");
    control.tls.close();
    Ok(transfer)
}

/// Reads the listing to its end. Who is refused the data learns it here, and why by the reply.
fn list(data: &mut TlsStream) -> Result<(), Fault> {
    data.handshake()?;
    let mut length = 0;
    while length < LONGEST_LISTING {
        match data.read()?.len() {
            0 => break,
            more => length += more,
        }
    }
    Ok(())
}

/// Ctrl-C ends all; what else ends the data connection is the server's answer.
fn interrupted(listed: Result<(), Fault>) -> Result<(), Fault> {
    match listed {
        Err(fault) if fault.name == FaultName::Interrupted => Err(fault),
        _ => Ok(()),
    }
}

struct Control {
    tls: TlsStream,
    /// What was heard and is no whole reply yet.
    heard: Vec<u8>,
}

/// A whole reply.
struct Reply {
    code: u16,
    /// Its last line.
    text: String,
}

impl Reply {
    fn is_preliminary(&self) -> bool {
        self.code / 100 == 1
    }

    fn is_completion(&self) -> bool {
        self.code / 100 == 2
    }
}

impl Control {
    /// As the target is asked for TLS by every connection of a diagnosis.
    fn open(connector: &mut Connector, config: &Arc<Config>, asked: Asked) -> Result<Self, NoTransfer> {
        let mut stream = connector.dial(None)?;
        let client = stream.local_address().unwrap_or(SocketAddr::from(([0, 0, 0, 0], 0)));
        let awaited = |error: &std::io::Error| Fault::of_transport(FailureClass::Starttls, "reply", error);
        if let Some(mut prologue) = connector.settings.route.prologue() {
            let mut out = Vec::new();
            let mut buffer = [0; 4096];
            let mut step = prologue.begin(client, &mut out);
            loop {
                stream.write_all(&out).map_err(|error| awaited(&error))?;
                out.clear();
                step = match step {
                    PrologueStep::Over(_) => break,
                    PrologueStep::Passed(_) => prologue.receive(&[], &mut out)?,
                    PrologueStep::Waiting => match stream.read(&mut buffer).map_err(|error| awaited(&error))? {
                        0 => return Err(prologue.receive_end().into()),
                        count => prologue.receive(buffer.get(..count).unwrap_or_default(), &mut out)?,
                    },
                };
            }
        }
        let offer = SessionOffer::nothing(asked).offer;
        let mut tls = TlsStream::new(stream, config.clone(), offer, connector.settings.clock)?;
        tls.handshake()?;
        Ok(Self { tls, heard: Vec::new() })
    }

    fn log_in(&mut self, login: &FtpLogin) -> Result<(), NoTransfer> {
        self.tls.send(format!("USER {}\r\n", login.user).as_bytes())?;
        let mut reply = self.reply()?;
        // RFC 959 §5.4: 331 asks for the password.
        if reply.code == 331 {
            self.tls.send(format!("PASS {}\r\n", login.password.as_str()).as_bytes())?;
            reply = self.reply()?;
        }
        if reply.is_completion() { Ok(()) } else { Err(NoTransfer::Login(reply.text)) }
    }

    /// The port that the server listens on for the data connection. Of the address in its reply nothing is believed: it may be one
    /// behind a NAT, or somebody else's.
    fn passive_port(&mut self) -> Result<u16, NoTransfer> {
        self.tls.send(b"EPSV\r\n")?;
        let extended = self.reply()?;
        if let Some(port) = extended_port(&extended) {
            return Ok(port);
        }
        let reply = self.ask("PASV", "PASV")?;
        passive_port(&reply.text).ok_or(NoTransfer::Refused("PASV", reply.text))
    }

    /// A command that has to be taken.
    fn ask(&mut self, command: &str, name: &'static str) -> Result<Reply, NoTransfer> {
        self.tls.send(format!("{command}\r\n").as_bytes())?;
        let reply = self.reply()?;
        if reply.is_completion() { Ok(reply) } else { Err(NoTransfer::Refused(name, reply.text)) }
    }

    fn reply(&mut self) -> Result<Reply, NoTransfer> {
        loop {
            match reply::length(&self.heard) {
                Ok(Some(length)) => {
                    let whole: Vec<u8> = self.heard.drain(..length).collect();
                    let text = String::from_utf8_lossy(&whole).trim_end().lines().last().unwrap_or_default().to_owned();
                    return Ok(Reply { code: reply::code(&whole).unwrap_or_default(), text });
                }
                Ok(None) if self.heard.len() <= LONGEST_REPLY => {}
                Ok(None) | Err(Unexpected) => return Err(Fault::new(FaultName::AnswerUnexpected).into()),
            }
            let more = match self.tls.read() {
                Ok(more) => more,
                Err(fault) => return Err(self.tls.take_reply_in_the_clear().map_or(fault.into(), NoTransfer::InTheClear)),
            };
            if more.is_empty() {
                return Err(Fault::new(FaultName::NoAnswer).into());
            }
            self.heard.extend(more);
        }
    }
}

/// RFC 2428 §3: `229 Entering Extended Passive Mode (|||6446|)`.
fn extended_port(reply: &Reply) -> Option<u16> {
    let (_, rest) = reply.text.split_once("(|||").filter(|_| reply.code == 229)?;
    rest.split_once('|')?.0.parse().ok()
}

/// RFC 959 §4.1.2: `227 Entering Passive Mode (h1,h2,h3,h4,p1,p2)`.
fn passive_port(text: &str) -> Option<u16> {
    let numbers = text.get(3..)?.split(|letter: char| !letter.is_ascii_digit()).filter(|part| !part.is_empty());
    let numbers: Vec<u8> = numbers.map(str::parse).collect::<Result<_, _>>().ok()?;
    let [.., high, low] = numbers.as_slice() else { return None };
    (numbers.len() == 6).then_some(u16::from_be_bytes([*high, *low]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_a_data_connection_is_read() {
        let extended = |code, text: &str| extended_port(&Reply { code, text: text.to_owned() });
        assert_eq!(extended(229, "229 Entering Extended Passive Mode (|||6446|)"), Some(6446));
        for (code, text) in [(229, "229 OK"), (229, "229 (|||70000|)"), (500, "500 (|||1|)")] {
            assert_eq!(extended(code, text), None, "{text}");
        }
        assert_eq!(passive_port("227 Entering Passive Mode (127,0,0,1,25,46)."), Some(25 * 256 + 46));
        for text in ["227 OK", "227 (127,0,0,1,25)", "227 (127,0,0,1,25,460)", ""] {
            assert_eq!(passive_port(text), None, "{text}");
        }
    }
}
