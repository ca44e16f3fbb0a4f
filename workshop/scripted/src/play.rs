//! A whole server: honest lines, and what deviates from them.

use std::collections::VecDeque;

use reprise_engine::{Connection, Error};
pub use reprise_servers::Act;
use reprise_servers::Actor;
use reprise_wire::{ContentType, HandshakeType, MAX_PLAINTEXT};

use crate::NOW;
use crate::host::{Host, Wording, holds_hello};
use crate::setting::{ConnectionEnd, Line, REQUEST, Setting};

/// What becomes of one line. Several may stand at the same line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// It is worded otherwise; the rest of the handshake goes by what was said.
    Say(Wording),
    /// Its bytes are edited, header included; the rest of the handshake goes by what was said.
    Edit(Edit),
    /// Its body is edited, and its header says the new length.
    EditBody(Edit),
    /// It is not said.
    Omit,
    /// It is said so many times more, byte for byte.
    Repeat(u16),
    /// Another line comes first.
    Before(Line),
    /// Another line stands in its place.
    Instead(Line),
    /// From here on nothing is said but this, again and again.
    ForEver(Line),
    /// It comes in records of at most so many bytes.
    Fragment(u16),
    /// It shares its record with the next line.
    Together,
    /// After its first record another line comes, and then the rest of it.
    Between(Line),
    /// Its record is not protected.
    Clear,
    /// Its record claims another content type.
    As(u8),
    /// Its record arrives byte by byte.
    ByteByByte,
    /// Only so many bytes of its records arrive, and the connection ends.
    Cut(usize, ConnectionEnd),
    /// These bytes stand on the wire in its place.
    Wire(Vec<u8>),
}

/// Something done to a string of bytes. Places are fractions of its length, of 65,536.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Bits are flipped.
    Flip(u16, u8),
    /// A byte becomes another.
    Set(u16, u8),
    /// Bytes are put in.
    Insert(u16, Vec<u8>),
    /// So many bytes are taken out.
    Remove(u16, u8),
    /// So many bytes stand there twice.
    Double(u16, u8),
    /// All from there on is missing.
    Truncate(u16),
}

impl Edit {
    /// Edits `bytes`.
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |at: u16| usize::from(at) * bytes.len() / (usize::from(u16::MAX) + 1);
        let until = |at: usize, count: u8| bytes.len().min(at + usize::from(count));
        match *self {
            Self::Flip(at, mask) => {
                let at = place(at);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= mask);
            }
            Self::Set(at, value) => {
                let at = place(at);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte = value);
            }
            Self::Insert(at, ref inserted) => {
                let at = place(at);
                bytes.splice(at..at, inserted.iter().copied());
            }
            Self::Remove(at, count) => {
                let at = place(at);
                bytes.drain(at..until(at, count));
            }
            Self::Double(at, count) => {
                let at = place(at);
                let doubled = bytes[at..until(at, count)].to_vec();
                bytes.splice(at..at, doubled);
            }
            Self::Truncate(at) => bytes.truncate(place(at)),
        }
    }
}

/// A server on one connection.
pub struct Play {
    setting: Setting,
    /// `None` before the client's hello.
    host: Option<Host>,
    lines: VecDeque<Staged>,
    unheard: Vec<u8>,
    /// What was said and waits to share a record with what follows.
    held: Option<Held>,
    leaving: VecDeque<Act>,
}

struct Staged {
    line: Line,
    deviations: Vec<Deviation>,
}

struct Held {
    content_type: ContentType,
    content: Vec<u8>,
    /// Each line, and where it ends in the content.
    lines: Vec<(Line, usize)>,
}

impl Play {
    /// A server that does everything right.
    pub fn honest(setting: Setting) -> Self {
        Self::deviating(setting, &[])
    }

    /// A server that deviates at these lines of [`Setting::lines`], counted from 0.
    pub fn deviating(setting: Setting, deviations: &[(usize, Deviation)]) -> Self {
        let stage = |(place, line)| {
            let here = deviations.iter().filter(|(at, _)| *at == place).map(|(_, deviation)| deviation.clone());
            Staged { line, deviations: here.collect() }
        };
        let lines = setting.lines().into_iter().enumerate().map(stage).collect();
        Self { setting, host: None, lines, unheard: Vec::new(), held: None, leaving: VecDeque::new() }
    }

    /// Goes on although the client has not said what is waited for.
    pub fn wait_no_longer(&mut self) {
        if self.lines.front().is_some_and(|staged| staged.line == Line::Wait) {
            self.lines.pop_front();
        }
        self.take_flight();
    }

    /// Plays to a client in memory, to the end or until it has had enough. A client that is ready sends a request.
    pub fn perform(&mut self, client: &mut Connection) -> Result<(), Error> {
        let mut asked = false;
        loop {
            self.hear(&client.take_outgoing(NOW));
            match self.act() {
                Act::Send(bytes) => client.receive(NOW, &bytes)?,
                Act::Hear if client.ready().is_some() && !asked => {
                    asked = true;
                    client.send(NOW, REQUEST)?;
                }
                Act::Hear if self.host.is_none() => return Ok(()),
                Act::Hear => self.wait_no_longer(),
                Act::End(ConnectionEnd::Silence) => return Ok(()),
                Act::End(_) => return client.receive_end(NOW),
            }
        }
    }

    fn take_flight(&mut self) {
        if let Some(host) = &mut self.host {
            host.hear(&std::mem::take(&mut self.unheard));
        }
    }

    fn perform_line(&mut self) {
        let Some(Staged { mut line, mut deviations }) = self.lines.pop_front() else {
            self.flush(MAX_PLAINTEXT);
            return self.leaving.push_back(Act::End(ConnectionEnd::Close));
        };
        if let Some(place) = deviations.iter().position(|deviation| matches!(deviation, Deviation::Before(_))) {
            let Deviation::Before(first) = deviations.remove(place) else { return };
            self.lines.push_front(Staged { line, deviations });
            return self.lines.push_front(Staged { line: first, deviations: Vec::new() });
        }
        let endless = deviations.iter().any(|deviation| matches!(deviation, Deviation::ForEver(_)));
        for deviation in &deviations {
            match deviation {
                Deviation::Omit => return,
                Deviation::Instead(other) => line = other.clone(),
                Deviation::ForEver(other) => {
                    line = other.clone();
                    let again = Deviation::ForEver(other.clone());
                    self.lines.push_front(Staged { line: other.clone(), deviations: vec![again] });
                    break;
                }
                _ => {}
            }
        }
        match line {
            Line::End(ending) => {
                self.flush(MAX_PLAINTEXT);
                self.leaving.push_back(Act::End(ending));
            }
            Line::Wait => {}
            line => self.say(&line, &deviations),
        }
        if endless && self.leaving.is_empty() {
            // What cannot be said cannot be said for ever.
            self.lines.pop_front();
        }
    }

    fn say(&mut self, line: &Line, deviations: &[Deviation]) {
        let Some(host) = &mut self.host else { return };
        let wording = deviations.iter().filter_map(|deviation| match deviation {
            Deviation::Say(wording) => Some(wording.clone()),
            _ => None,
        });
        let wording: Vec<Wording> = wording.collect();
        let Some((mut content_type, mut message)) = host.say(line, &wording) else { return };
        let honest = message.len();
        deviations.iter().for_each(|deviation| deviation.edit(&mut message));
        host.amend(line, honest, &message);

        let (mut fragment, mut repeats, mut between, mut together, mut clear) = (MAX_PLAINTEXT, 0, None, false, false);
        for deviation in deviations {
            match deviation {
                Deviation::As(other) => content_type = ContentType(*other),
                Deviation::Fragment(length) => fragment = usize::from(*length),
                Deviation::Repeat(times) => repeats = usize::from(*times),
                Deviation::Between(other) => between = between.or(Some(other)),
                Deviation::Together => together = true,
                Deviation::Clear => clear = true,
                _ => {}
            }
        }
        if together && self.held.is_none() {
            let lines = vec![(line.clone(), message.len())];
            self.held = Some(Held { content_type, content: message, lines });
            return;
        }
        if let Some(held) = &mut self.held
            && held.content_type == content_type
        {
            held.content.extend_from_slice(&message);
            held.lines.push((line.clone(), message.len()));
            if !together {
                self.flush(fragment);
            }
            return;
        }
        self.flush(MAX_PLAINTEXT);
        let Some(host) = &mut self.host else { return };
        let mut bytes = if clear {
            crate::clear(content_type, &message)
        } else if let Some(other) = between {
            let (first, rest) = message.split_at(message.len() / 2);
            let mut bytes = host.records(content_type, first, fragment);
            if let Some((other_type, other)) = host.say(other, &[]) {
                bytes.extend(host.records(other_type, &other, MAX_PLAINTEXT));
            }
            bytes.extend(host.records(content_type, rest, fragment));
            bytes
        } else {
            host.records(content_type, &message, fragment)
        };
        for _ in 0..repeats {
            bytes.extend(host.records(content_type, &message, fragment));
        }
        host.go_on_from(line, &message);
        self.leave(bytes, deviations);
    }

    /// The bytes of a line leave, or what becomes of them on their way.
    fn leave(&mut self, bytes: Vec<u8>, deviations: &[Deviation]) {
        for deviation in deviations {
            match deviation {
                Deviation::Cut(length, ending) => {
                    self.leaving.push_back(Act::Send(bytes[..bytes.len().min(*length)].to_vec()));
                    return self.leaving.push_back(Act::End(*ending));
                }
                Deviation::ByteByByte => {
                    return self.leaving.extend(bytes.iter().map(|&byte| Act::Send(vec![byte])));
                }
                Deviation::Wire(other) => return self.leaving.push_back(Act::Send(other.clone())),
                _ => {}
            }
        }
        self.leaving.push_back(Act::Send(bytes));
    }

    /// What was held leaves in one record, or in as many as it takes.
    fn flush(&mut self, fragment: usize) {
        let (Some(held), Some(host)) = (self.held.take(), &mut self.host) else { return };
        self.leaving.push_back(Act::Send(host.records(held.content_type, &held.content, fragment)));
        let mut rest = &held.content[..];
        for (line, length) in held.lines {
            let (said, after) = rest.split_at(length);
            host.go_on_from(&line, said);
            rest = after;
        }
    }
}

impl Actor for Play {
    fn hear(&mut self, bytes: &[u8]) {
        self.unheard.extend_from_slice(bytes);
    }

    fn act(&mut self) -> Act {
        loop {
            if let Some(act) = self.leaving.pop_front() {
                return act;
            }
            let Some(host) = &self.host else {
                if !holds_hello(&self.unheard) {
                    return Act::Hear;
                }
                self.host = Some(Host::answering(self.setting, &std::mem::take(&mut self.unheard)));
                continue;
            };
            match self.lines.front().map(|staged| &staged.line) {
                Some(Line::Wait) if !host.is_answered_by(&self.unheard) => {
                    self.flush(MAX_PLAINTEXT);
                    if self.leaving.is_empty() {
                        return Act::Hear;
                    }
                }
                Some(Line::Wait) => self.wait_no_longer(),
                _ => self.perform_line(),
            }
        }
    }
}

impl Deviation {
    fn edit(&self, message: &mut Vec<u8>) {
        match self {
            Self::Edit(edit) => edit.apply(message),
            Self::EditBody(edit) if message.len() >= 4 => {
                let msg_type = HandshakeType(message[0]);
                let mut body = message.split_off(4);
                edit.apply(&mut body);
                *message = crate::framed(msg_type, |out| out.extend_from_slice(&body));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use reprise_model::{Kind, Version};
    use reprise_wire::CipherSuite;

    use super::*;

    /// Without deviations every setting ends as it should: so what a test shows is the deviation's doing.
    #[test]
    fn honest_servers_are_taken_for_what_they_are() {
        let flags = [false, true];
        for version in [Version::Tls12, Version::Tls13] {
            for kind in [Kind::Full, Kind::Id, Kind::Ticket, Kind::Early] {
                for bits in 0..64_u8 {
                    let flag = |bit: u8| flags[usize::from(bits >> bit & 1)];
                    let setting = Setting {
                        kind,
                        offers_both: flag(0),
                        retry: flag(1),
                        asks_certificate: flag(2),
                        has_certificate: flag(3),
                        alpn: flag(4),
                        gives_ticket: flag(5),
                        ..Setting::full(version)
                    };
                    played(setting);
                }
            }
        }
    }

    #[test]
    fn every_suite() {
        for suite in reprise_engine::suite::SUITES {
            let by_rsa = suite.id == CipherSuite::TLS_RSA_WITH_AES_128_GCM_SHA256;
            if suite.authentication == reprise_engine::suite::Authentication::Rsa && !by_rsa {
                continue;
            }
            played(Setting { suite: suite.id, ..Setting::full(suite.version) });
        }
    }

    fn played(setting: Setting) {
        let mut client = setting.client();
        Play::honest(setting).perform(&mut client).unwrap_or_else(|error| panic!("{setting:?}: {error}"));
        let outcome = client.outcome().unwrap();
        assert!(client.is_confirmed(), "{setting:?}");
        let kind = match setting.kind {
            _ if !setting.resumes() => Kind::Full,
            // RFC 9846 §4.3.10: a HelloRetryRequest rejects early data.
            Kind::Early if setting.retry => Kind::Ticket,
            kind => kind,
        };
        assert_eq!(outcome.kind, kind, "{setting:?}");
        assert_eq!(client.take_application_data(), crate::setting::RESPONSE, "{setting:?}");
    }
}
