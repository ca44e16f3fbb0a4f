//! A conversation in the clear, with a proxy or with a server that is to begin TLS.

use std::io;
use std::time::Duration;

use reprise_trace::{Failure, FailureClass};

use crate::failure;
use crate::socket::Stream;

/// Bytes that are listened to at most: a server could otherwise go on without end. Greetings and lists of capabilities
/// take hundreds.
const MAX_HEARD: usize = 16 * 1024;

/// Characters of an answer that an error quotes.
const MAX_QUOTED: usize = 120;

/// What the bytes that have come so far are: with `Some(length)`, the first so many are a whole message; with `None` more
/// must come.
pub(crate) type Heard = Result<Option<usize>, Unexpected>;

/// These bytes cannot begin the message that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unexpected;

/// A byte stream in both directions: a socket, or a script in tests.
pub(crate) trait Peer {
    /// Reads what has come; 0 at the end.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl Peer for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Self::read(self, buffer)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Self::write_all(self, bytes)
    }
}

/// Who is spoken with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Correspondent {
    Proxy,
    /// Of this protocol.
    Server(&'static str),
}

/// A conversation that is bounded in bytes, and in time by the peer's own deadline.
pub(crate) struct Dialogue<'s> {
    peer: &'s mut dyn Peer,
    with: Correspondent,
    timeout: Duration,
    /// What has come and was not consumed yet.
    heard: Vec<u8>,
    total: usize,
    /// Whether the next bytes to come answer what was said, or greet who has connected.
    answer_is_due: bool,
    round_trips: u64,
}

impl<'s> Dialogue<'s> {
    /// `timeout` is told in errors; the peer keeps it.
    pub(crate) fn new(peer: &'s mut dyn Peer, timeout: Duration) -> Self {
        Self { peer, with: Correspondent::Proxy, timeout, heard: Vec::new(), total: 0, answer_is_due: true, round_trips: 0 }
    }

    pub(crate) fn turn_to(&mut self, with: Correspondent) {
        self.with = with;
        self.answer_is_due = true;
    }

    /// Says something that is answered.
    pub(crate) fn say(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.answer_is_due = true;
        self.tell(bytes)
    }

    /// Says something that is not answered.
    pub(crate) fn tell(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.peer.write_all(bytes).map_err(|error| self.broken("being spoken to", &error))
    }

    /// The next message, as long as `length_of` says it is.
    pub(crate) fn hear(&mut self, what: &str, length_of: impl Fn(&[u8]) -> Heard) -> Result<Vec<u8>, Failure> {
        loop {
            match length_of(&self.heard) {
                Err(Unexpected) => return Err(self.unexpected(what, &self.heard)),
                Ok(Some(length)) => return Ok(self.heard.drain(..length.min(self.heard.len())).collect()),
                Ok(None) => self.listen(what)?,
            }
        }
    }

    /// Exactly so many bytes.
    pub(crate) fn hear_exactly(&mut self, what: &str, count: usize) -> Result<Vec<u8>, Failure> {
        self.hear(what, |heard| Ok((heard.len() >= count).then_some(count)))
    }

    /// Ends the conversation: the next byte from the server belongs to TLS, and TLS servers wait for the ClientHello. Who
    /// sits on the path could have slipped in what is there already (CVE-2011-0411), so it is not passed over. Returns how
    /// many round trips the conversation took.
    pub(crate) fn finish(self) -> Result<u64, Failure> {
        if self.heard.is_empty() {
            return Ok(self.round_trips);
        }
        let message = format!("{} said more before TLS than is its turn: {}", self.name(), quoted(&self.heard));
        Err(self.failure("injected", message, Some("someone on the path may have slipped it in")))
    }

    /// The answer is no, and `why` says how it was put.
    pub(crate) fn refusal(&self, name: &str, why: &str, hint: Option<&str>) -> Failure {
        self.failure(name, format!("{} {why}", self.name()), hint)
    }

    /// Bytes that the protocol has no place for.
    pub(crate) fn unexpected(&self, what: &str, bytes: &[u8]) -> Failure {
        let message = format!("{}'s {what} is none: {}", self.name(), quoted(bytes));
        let hint = match self.with {
            Correspondent::Proxy => "check the proxy's port, and whether it is http:// or socks5://".to_owned(),
            Correspondent::Server(protocol) => {
                format!("check the port, and that it speaks {protocol} in the clear: --starttls names the protocol")
            }
        };
        self.failure("unexpected", message, Some(&hint))
    }

    fn listen(&mut self, what: &str) -> Result<(), Failure> {
        if self.heard.len() > MAX_HEARD || self.total > MAX_HEARD {
            let message = format!("{} goes on after {MAX_HEARD} bytes without a {what}", self.name());
            return Err(self.failure("too_long", message, None));
        }
        let mut buffer = [0; 2048];
        let count = self.peer.read(&mut buffer).map_err(|error| self.broken(what, &error))?;
        if count == 0 {
            let hint = match self.with {
                Correspondent::Proxy => "its log may say why",
                Correspondent::Server(_) => "the server's log may say why",
            };
            return Err(self.failure(
                "closed",
                format!("{} closed the connection without a {what}", self.name()),
                Some(hint),
            ));
        }
        if std::mem::take(&mut self.answer_is_due) {
            self.round_trips += 1;
        }
        self.total = self.total.saturating_add(count);
        self.heard.extend_from_slice(buffer.get(..count).unwrap_or_default());
        Ok(())
    }

    fn broken(&self, what: &str, error: &io::Error) -> Failure {
        let failure = match error.kind() {
            io::ErrorKind::Interrupted => return failure::interrupted(),
            io::ErrorKind::TimedOut => failure::timed_out(self.class(), what, self.timeout),
            _ => failure::socket(self.class(), what, error),
        };
        let hint = match (self.with, failure.name.as_str()) {
            (Correspondent::Server(_), "timeout") => {
                "if the port begins with TLS (465, 993, 636, …), leave --starttls out; --timeout gives it longer"
            }
            (Correspondent::Proxy, "timeout") => {
                "the proxy may not reach the target, or speak another protocol; --timeout gives it longer"
            }
            _ => return failure,
        };
        Failure { message: format!("{} from {}", failure.message, self.name()), hint: Some(hint.to_owned()), ..failure }
    }

    fn failure(&self, name: &str, message: String, hint: Option<&str>) -> Failure {
        let prefix = match self.with {
            Correspondent::Proxy => "proxy",
            Correspondent::Server(_) => "starttls",
        };
        let (name, hint) = (format!("{prefix}_{name}"), hint.map(str::to_owned));
        Failure { class: self.class(), name, message, hint, local_port: None }
    }

    fn name(&self) -> &'static str {
        match self.with {
            Correspondent::Proxy => "the proxy",
            Correspondent::Server(_) => "the server",
        }
    }

    fn class(&self) -> FailureClass {
        match self.with {
            Correspondent::Proxy => FailureClass::Proxy,
            Correspondent::Server(_) => FailureClass::Starttls,
        }
    }
}

/// What a peer said, fit to be printed: its control characters escaped, its length bounded.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches(['\r', '\n']);
    let cut: String = text.chars().take(MAX_QUOTED).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    // An apostrophe ends nothing here, and XML is full of them.
    let escaped = cut.escape_debug().to_string().replace("\\'", "'");
    format!("\"{escaped}{more}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_peer_says_is_printed_as_it_reads_and_cannot_act() {
        let cases = [
            ("<a xmlns='b'/>\r\n", "\"<a xmlns='b'/>\""),
            ("say \"no\"", "\"say \\\"no\\\"\""),
            ("\u{1b}[31m", "\"\\u{1b}[31m\""),
            ("back\\'", "\"back\\\\'\""),
        ];
        for (said, shown) in cases {
            assert_eq!(quoted(said.as_bytes()), shown);
        }
        assert_eq!(quoted("é".repeat(200).as_bytes()), format!("\"{}…\"", "é".repeat(MAX_QUOTED)));
    }
}
